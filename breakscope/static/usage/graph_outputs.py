"""Outputs of CUDA graphs that are read after the next call has written over them.

Measured with torch 2.11 on a GPU: every call of any such callable begins a new step, and what
earlier calls returned is gone, unless one of them that needs gradients still waits for a
backward pass (torch._inductor.cudagraph_trees, can_start_new_generation: any backward pass ends the
waiting). Where torch.compiler.cudagraph_mark_step_begin() is used, it alone begins steps.
"""

from __future__ import annotations

import ast
import re

from msgspec import Struct

from breakscope.rulekit.usage import Kept, Wrapped
from breakscope.rulekit.values import Const, Dict
from breakscope.rulekit.walking import last_name, walk
from breakscope.static.usage.loops import path_of
from breakscope.static.usage.state import State
from breakscope.static.usage.wrapping import short

MODES = ("reduce-overhead", "max-autotune")
ON_GPU = r"""["']cuda|\.cuda\("""
MARK = "cudagraph_mark_step_begin"
WITHOUT_GRADIENTS = ("no_grad", "inference_mode")
ALIASES = frozenset(
    "detach view view_as reshape flatten squeeze unsqueeze transpose permute t chunk split unbind select narrow expand expand_as "
    "swapaxes movedim requires_grad_ detach_ items values keys get pop copy".split()
)
STORES = frozenset("append extend insert add appendleft setdefault update".split())
# no value of the tensor is read
HARMLESS = frozenset("shape dtype device ndim requires_grad".split())
READS_NO_VALUE = frozenset("len isinstance type id".split())


class Output(Struct, eq=False):
    """What one call returned, until a later one has written over it."""

    value: Wrapped
    subject: str
    gone: bool = False


# the expression that was stored, and the path that holds it
Held = dict[Output, tuple[ast.expr, str]]


def records_graphs(value: Wrapped) -> bool:
    """True when inductor is to record CUDA graphs."""
    backend, options = value.settings.get("backend"), value.settings.get("options")
    if not value.is_compiled or (backend is not None and value.setting("backend") != "inductor"):
        return False
    switch = options.items.get("triton.cudagraphs") if isinstance(options, Dict) else None
    return value.setting("mode") in MODES or (isinstance(switch, Const) and switch.value is True)


class GraphOutputs:
    """Walks a function's statements; `calls` are the calls of what records CUDA graphs, by the id
    of their node."""

    def __init__(self, state: State, calls: dict[int, Wrapped]) -> None:
        self.state, self.calls = state, calls
        self.marks = MARK in state.module.source and any(
            last_name(node) == MARK for node in walk(state.module.tree)
        )
        self.certainty = "likely" if re.search(ON_GPU, state.module.source) else "possible"
        self.holds: dict[str, Held] = {}
        self.live: list[Output] = []
        self.no_grad = self.waits = False  # for a backward pass

    def function(self, node: ast.AST) -> None:
        """Twice: what is left on an object meets the next call."""
        self.waits = False
        self.no_grad = any(without_gradients(d) for d in getattr(node, "decorator_list", ()))
        for _ in range(2):
            self.block(node.body)
            self.holds = {
                path: held for path, held in self.holds.items() if path.startswith("self.")
            }
            if not self.holds:
                return

    def block(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            self.statement(statement)

    def statement(self, node: ast.stmt) -> None:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            return
        if isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
            self.read(node.iter if not isinstance(node, ast.While) else node.test)
            for _ in range(2):
                self.block(node.body)
            self.block(node.orelse)
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            before = self.no_grad
            self.no_grad = before or any(
                without_gradients(item.context_expr) for item in node.items
            )
            self.block(node.body)
            self.no_grad = before
        elif isinstance(node, ast.If):
            self.read(node.test)
            before = dict(self.holds)
            self.block(node.body)
            then, self.holds = self.holds, before
            self.block(node.orelse)
            for path, held in then.items():
                self.holds[path] = self.holds.get(path, {}) | held
        elif isinstance(node, ast.Try):
            for part in (
                node.body,
                *(handler.body for handler in node.handlers),
                node.orelse,
                node.finalbody,
            ):
                self.block(part)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            held = self.held(node.value)
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                self.store(target, node.value, held)
        elif isinstance(node, ast.AugAssign):
            self.augmented(node)
        else:
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.expr):
                    self.read(child)

    def augmented(self, node: ast.AugAssign) -> None:
        """`outputs += [y]` stores, `total += y` computes."""
        if isinstance(node.value, (ast.List, ast.Tuple)):
            self.add(path_of(node.target), node.value, self.held(node.value))
        else:
            self.read(node.value)
            self.check(self.holds.pop(path_of(node.target), {}))

    def store(self, target: ast.expr, expression: ast.expr, held: Held) -> None:
        if isinstance(target, (ast.Tuple, ast.List)):
            for part in target.elts:
                self.store(part, expression, held)
        elif isinstance(target, ast.Subscript):
            self.add(path_of(target.value), expression, held)
        elif path := path_of(target):
            self.holds.pop(path, None)
            self.add(path, expression, held)

    def add(self, path: str, expression: ast.expr, held: Held) -> None:
        if path and held:
            self.holds[path] = self.holds.get(path, {}) | dict.fromkeys(held, (expression, path))

    def read(self, node: ast.expr) -> None:
        self.check(self.held(node))

    def check(self, held: Held) -> None:
        for output, (expression, path) in held.items():
            if output.gone:
                self.state.emit(
                    Kept,
                    expression,
                    self.certainty,
                    value=output.value,
                    subject=output.subject,
                    holder=path,
                    kept=short(expression),
                )

    def held(self, node: ast.expr | None) -> Held:
        """The outputs that an expression is, or is a part of; all others that it reads are checked."""
        if node is None:
            return {}
        if isinstance(node, (ast.Name, ast.Attribute)) and path_of(node) in self.holds:
            return self.holds[path_of(node)]
        if isinstance(node, ast.Attribute):
            return {} if node.attr in HARMLESS else self.held(node.value)
        if isinstance(node, (ast.Subscript, ast.Starred, ast.Await)):
            return self.held(node.value)
        if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
            return {output: at for part in node.elts for output, at in self.held(part).items()}
        if isinstance(node, ast.Dict):
            return {output: at for part in node.values for output, at in self.held(part).items()}
        if isinstance(node, ast.IfExp):
            self.read(node.test)
            return self.held(node.body) | self.held(node.orelse)
        if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp)):
            for generator in node.generators:
                self.read(generator.iter)
            element = node.value if isinstance(node, ast.DictComp) else node.elt
            return {output: (element, "") for _ in range(2) for output in self.held(element)}
        if isinstance(node, ast.NamedExpr):
            held = self.held(node.value)
            self.store(node.target, node.value, held)
            return held
        if isinstance(node, ast.Call):
            return self.call(node)
        if isinstance(node, ast.Compare) and all(
            isinstance(op, (ast.Is, ast.IsNot)) for op in node.ops
        ):
            return {}
        if isinstance(node, (ast.Lambda, ast.GeneratorExp)):
            return {}
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.read(child)
        return {}

    def call(self, node: ast.Call) -> Held:
        method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
        if isinstance(node.func, ast.Name) and node.func.id in READS_NO_VALUE:
            return {}
        if method in STORES and path_of(node.func.value):
            for argument in arguments:
                self.add(path_of(node.func.value), argument, self.held(argument))
            return {}
        given = [self.held(argument) for argument in arguments]
        output = self.new_output(node) if id(node) in self.calls else {}
        for held in given:  # an output that goes back in is read when the step has begun
            self.check(held)
        if output:
            return output
        if method in ALIASES:
            return self.held(node.func.value)
        if method == MARK:
            self.begin_step()
        elif method:
            self.read(node.func.value)
        if method == "backward":
            self.waits = False
        return {}

    def new_output(self, node: ast.Call) -> Held:
        if not self.marks and not self.waits:
            self.begin_step()
        self.waits = self.waits or not self.no_grad
        output = Output(self.calls[id(node)], short(node.func))
        self.live.append(output)
        return {output: (node, "")}

    def begin_step(self) -> None:
        """What earlier steps returned may be written over from now on."""
        for output in self.live:
            output.gone = True
        self.live = []


def without_gradients(node: ast.expr) -> bool:
    """True for `torch.no_grad()` and its like."""
    called = node.func if isinstance(node, ast.Call) else node
    return path_of(called).rpartition(".")[2] in WITHOUT_GRADIENTS
