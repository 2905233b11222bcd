"""Follows the statements of a file for what is wrapped by torch.compile, and what is done with it.

Cheap and coarse beside the interpreter of regions: a name holds one value, loops are walked twice,
functions of the same file are entered when they are called. Classes and imports are the
interpreter's.
"""

from __future__ import annotations

import ast

from msgspec.structs import replace

from breakscope import limits
from breakscope.rulekit.usage import Configure, Timed, Use, Wrap, Wrapped
from breakscope.rulekit.values import UNKNOWN, External, Function, Value
from breakscope.rulekit.walking import walk
from breakscope.static.definitions.names import canonical_name, module_names, resolve_import
from breakscope.static.machine.frames import Activation, Step
from breakscope.static.machine.machine import Machine
from breakscope.static.project.modules import ModuleInfo
from breakscope.static.usage.expressions import Expressions
from breakscope.static.usage.graph_gradients import emit_added_gradients
from breakscope.static.usage.graph_outputs import GraphOutputs
from breakscope.static.usage.loops import path_of
from breakscope.static.usage.scope import Local, Scope, decide, key, maybe, merge, merged
from breakscope.static.usage.syntax import bound, is_main, kept, names_prefix, pairs, tells
from breakscope.static.usage.timing import timed_calls

BROAD = frozenset({"", "Exception", "BaseException"})


class OutOfWork(Exception):
    """The file takes more work than it is allowed."""


class Follower(Expressions):
    """Follows one file; what it sees becomes events of one activation."""

    def __init__(self, machine: Machine, module: ModuleInfo, activation: Activation) -> None:
        self.machine = machine
        self.module = module
        self.activation = activation
        self.names = module_names(machine, module)
        self.globals = Scope()
        self.scope = self.globals
        self.followed: dict[tuple, Value] = {}
        self.depth = 0
        self.work = 0
        self.silent = False
        self.function_name = ""
        # id of a wrapping node -> the first call of what it made
        self.first_calls: dict[int, ast.AST | None] = {}
        self.uses = 0  # how often something compiled was called or handed on
        # id of a module value -> what torch.compile made of it
        self.compiled_of: dict[int, Wrapped] = {}
        self.running: ast.stmt | None = None  # the statement that is being followed
        self.saves_prefix = False  # the file saves states whose keys begin with `_orig_mod.`
        # id of a call -> what it calls, which records CUDA graphs
        self.graph_calls: dict[int, Wrapped] = {}
        self.knows_prefix = "_orig_mod" in module.source and names_prefix(module.tree)

    def emit(self, event_type, node: ast.AST, certainty: str = "certain", **fields) -> None:
        """Record an event, once for each place, kind and circumstance."""
        about = [fields.get(name) for name in ("name", "repeats", "varies", "new_backend", "what")]
        detail = (id(node), event_type, certainty, type(fields.get("target")), *about)
        if self.silent or detail in self.activation.seen:
            return
        self.activation.seen.add(detail)
        source = self.machine.text(node, self.module)
        event = event_type(
            node=node, source=source, function=self.function_name, certainty=certainty, **fields
        )
        self.activation.steps.append(Step(event))

    def top_level(self) -> None:
        """Follow the module's own statements."""
        self.block(self.module.tree.body)
        self.graph_outputs(self.module.tree)

    def graph_outputs(self, node: ast.AST) -> None:
        """What becomes of the outputs of CUDA graphs in a function's own statements, or in the
        module's."""
        if self.graph_calls and not self.silent:
            GraphOutputs(self, self.graph_calls).function(node)
            emit_added_gradients(self, self.graph_calls, node)

    def function(
        self,
        node: ast.AST,
        qualname: str,
        known: dict[str, Value] | None = None,
        repeats: bool = False,
        outer: Scope | None = None,
        repeated: frozenset[str] | None = None,
    ) -> Value:
        """Follow a function whose parameters and attributes hold `known`; what it returns.

        With `repeats` it runs again and again on the same object; `repeated` names the parameters
        that stay the same when it is called from a loop.
        """
        known = known or {}
        about = (
            id(node),
            repeats,
            repeated,
            *sorted((path, key(value)) for path, value in known.items()),
        )
        try:
            if about in self.followed:
                return self.followed[about]
        except TypeError:
            return UNKNOWN
        if self.depth >= limits.DEEPEST_USAGE_CALL:
            return UNKNOWN
        self.followed[about] = UNKNOWN
        before = self.scope, self.function_name
        self.scope, self.function_name = (
            Scope(qualname, outer or self.globals, dict(known), bound(node)),
            qualname,
        )
        self.scope.repeated = frozenset({"self"}) if repeats else repeated
        self.scope.kept = kept(node)
        self.depth += 1
        self.block(node.body)
        self.graph_outputs(node)
        for inner in self.scope.inner:
            self.function(inner.node, inner.qualname, outer=self.scope)
        result = UNKNOWN
        for i, value in enumerate(self.scope.returns):
            result = value if i == 0 else merge(result, value)
        self.depth -= 1
        self.scope, self.function_name = before
        self.followed[about] = result
        return result

    def left_on_self(self, method: ast.AST) -> dict[str, Wrapped]:
        """What a method leaves wrapped on `self`, without recording events."""
        scope, silent = self.scope, self.silent
        self.scope, self.silent = Scope("", self.globals, {}, bound(method)), True
        self.block(method.body)
        names = self.scope.names
        self.scope, self.silent = scope, silent
        return {
            p: v
            for p, v in names.items()
            if p.startswith("self.") and isinstance(v, Wrapped) and v.is_compiled
        }

    maybe = staticmethod(maybe)

    def block(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            self.work += 1
            if self.work > limits.MOST_USAGE_STATEMENTS:
                raise OutOfWork
            self.statement(statement)
            if self.scope.ended:
                break
        if not self.scope.loops and not self.silent:
            for node, call, what in timed_calls(self, statements):
                value = self.look_up(path_of(call.func))
                if isinstance(value, Wrapped):
                    certainty = "likely" if value.sometimes or what == "launching" else "certain"
                    self.emit(
                        Timed,
                        node,
                        certainty,
                        value=value,
                        subject=ast.unparse(call.func),
                        what=what,
                    )

    def statement(self, node: ast.stmt) -> None:
        self.running = node
        handler = getattr(self, f"do_{type(node).__name__}", None)
        if handler is not None:
            handler(node)
            return
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.eval(child)

    def do_Expr(self, node: ast.Expr) -> None:
        self.eval(node.value, result="dropped")

    def do_Assign(self, node: ast.Assign) -> None:
        parts = pairs(node.targets[0], node.value)
        if parts:
            for target, value in [(target, self.eval(part, "assigned")) for target, part in parts]:
                self.bind(target, value)
            return
        value = self.eval(node.value, result="assigned")
        for target in node.targets:
            self.bind(target, value, node)

    def do_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.bind(node.target, self.eval(node.value, result="assigned"), node)

    def do_AugAssign(self, node: ast.AugAssign) -> None:
        self.bind(node.target, self.eval(node.value) and UNKNOWN, node)

    def bind(self, target: ast.expr, value: Value, statement: ast.stmt | None = None) -> None:
        """Give a name or path a value; what hangs below that path is forgotten."""
        if isinstance(target, ast.Tuple | ast.List):
            for part in target.elts:
                self.bind(part, UNKNOWN)
            return
        path = path_of(target)
        if isinstance(target, ast.Attribute):
            owner = self.eval(target.value)
            if isinstance(owner, External):
                self.emit(
                    Configure, statement or target, name=f"{owner.name}.{target.attr}", value=value
                )
            self.attribute_set(owner, target, statement)
        if path:
            for known in [p for p in self.scope.names if p.startswith(path + ".")]:
                del self.scope.names[known]
            self.scope.names[path] = value

    def do_Return(self, node: ast.Return) -> None:
        self.scope.returns.append(self.eval(node.value) if node.value is not None else UNKNOWN)
        self.scope.ended = True

    def do_Raise(self, node: ast.Raise) -> None:
        self.scope.ended = True

    def do_Continue(self, node: ast.stmt) -> None:
        self.scope.ended = True

    do_Break = do_Continue

    def do_If(self, node: ast.If) -> None:
        scope = self.scope
        self.eval(node.test)
        test = self.machine.text(node.test, self.module)
        before = dict(scope.names)
        decide(scope, test, True)
        self.inside(node, node.body)
        then, then_ended = scope.names, scope.ended
        scope.names, scope.ended = before, False
        decide(scope, test, False)
        self.inside(node, node.orelse)
        if then_ended and scope.ended:
            return
        if then_ended or scope.ended:
            scope.names = scope.names if then_ended else then
        elif not is_main(node):
            scope.names = merged(scope, test, then, scope.names)
        else:
            scope.names = then
        scope.ended = False

    def inside(self, node: ast.AST, body: list[ast.stmt]) -> None:
        self.scope.nesting.append(node)
        self.block(body)
        self.scope.nesting.pop()

    def do_For(self, node: ast.For) -> None:
        self.eval(node.iter)
        self.loop(node)

    do_AsyncFor = do_For

    def do_While(self, node: ast.While) -> None:
        self.eval(node.test)
        self.loop(node)

    def loop(self, node: ast.For | ast.While) -> None:
        """Two passes: the second begins with what the first left."""
        scope = self.scope
        before = dict(scope.names)
        scope.loops.append(node)
        for _ in range(2):
            if isinstance(node, ast.For | ast.AsyncFor):
                self.bind(node.target, UNKNOWN)
            self.inside(node, node.body)
            scope.ended = False
        scope.loops.pop()
        scope.names = {p: merge(v, before[p]) if p in before else v for p, v in scope.names.items()}
        self.block(node.orelse)

    def do_With(self, node: ast.With) -> None:
        for item in node.items:
            self.eval(item.context_expr)
            if item.optional_vars is not None:
                self.bind(item.optional_vars, UNKNOWN)
        self.inside(node, node.body)

    do_AsyncWith = do_With

    def do_Try(self, node: ast.Try) -> None:
        scope = self.scope
        before, first, uses = dict(scope.names), len(self.activation.steps), self.uses
        self.inside(node, node.body)
        self._attempted(node, first, self.uses > uses)
        if not scope.ended:
            self.inside(node, node.orelse)
        results = [] if scope.ended else [scope.names]
        for handler in node.handlers:
            scope.names, scope.ended = merged(scope, "", before, scope.names), False
            self.inside(handler, handler.body)
            results += [] if scope.ended else [scope.names]
        scope.ended = not results
        scope.names = results[0] if results else before
        for names in results[1:]:
            scope.names = merged(scope, "", scope.names, names)
        self.block(node.finalbody)

    do_TryStar = do_Try

    def _attempted(self, node: ast.Try, first: int, used: bool) -> None:
        """Note on the events of a `try` what its handlers make of an exception."""
        broad = next((h for h in node.handlers if path_of(h.type).split(".")[-1] in BROAD), None)
        if broad is None or any(isinstance(part, ast.Raise) for part in walk(broad)):
            return
        silent = not any(isinstance(part, ast.Call) and tells(part) for part in walk(broad))
        for i in range(first, len(self.activation.steps)):
            event = self.activation.steps[i].event
            if isinstance(event, Wrap) and not used:
                event = replace(event, ignored=path_of(broad.type) or "Exception")
            elif isinstance(event, Use) and event.name == "()" and silent:
                event = replace(event, swallowed=True)
            self.activation.steps[i] = Step(event)

    def do_FunctionDef(self, node: ast.FunctionDef) -> None:
        qualname = f"{self.scope.qualname}.{node.name}" if self.scope.qualname else node.name
        value: Value = Local(node, qualname, self.scope)
        if self.scope is not self.globals:
            self.scope.inner.append(value)
        for decorator in reversed(node.decorator_list):
            value = self.decorated(decorator, value, node)
        self.scope.names[node.name] = value

    do_AsyncFunctionDef = do_FunctionDef

    def do_ClassDef(self, node: ast.ClassDef) -> None:
        self.scope.names.pop(node.name, None)
        if self.scope is not self.globals:
            self.scope.names[node.name] = UNKNOWN

    def do_Import(self, node: ast.Import) -> None:
        if self.scope is not self.globals:
            for name in node.names:
                self.scope.names[name.asname or name.name.partition(".")[0]] = External(
                    name.name if name.asname else name.name.partition(".")[0]
                )

    def do_ImportFrom(self, node: ast.ImportFrom) -> None:
        if self.scope is not self.globals:
            for name in node.names:
                full = f"{node.module}.{name.name}"
                self.scope.names[name.asname or name.name] = (
                    External(canonical_name(self.machine, full)) if node.level == 0 else UNKNOWN
                )

    def do_Global(self, node: ast.Global) -> None:
        self.scope.bound -= set(node.names)

    do_Nonlocal = do_Global

    def look_up(self, path: str) -> Value:
        """What a path holds: here, in an outer function, in the module."""
        scope: Scope | None = self.scope
        root = path.partition(".")[0]
        while scope is not None:
            if path in scope.names:
                return scope.names[path]
            if root in scope.bound and scope is not self.globals:
                return UNKNOWN
            scope = scope.outer
        value = resolve_import(self.machine, self.names.get(path, UNKNOWN))
        if isinstance(value, Function) and value.info.module is self.module:
            return Local(value.info.node, value.info.qualname)
        return value
