"""Follows the statements of a file for what is wrapped by torch.compile, and what is done with it.

Cheap and coarse beside the interpreter of regions: a name holds one value, loops are walked twice,
functions of the same file are entered when they are called. Classes and imports are the
interpreter's.
"""

from __future__ import annotations

import ast

from msgspec.structs import replace

from breakscope import limits
from breakscope.rulekit.usage import Timed, Use, Wrap, Wrapped
from breakscope.rulekit.values import UNKNOWN, Const, External, Value
from breakscope.rulekit.walking import walk
from breakscope.static.definitions.names import canonical_name
from breakscope.static.machine.frames import Frame, Step
from breakscope.static.machine.gaps import why
from breakscope.static.usage.double_backward import emit_differentiated
from breakscope.static.usage.expressions import Expressions
from breakscope.static.usage.graph_gradients import emit_added_gradients
from breakscope.static.usage.graph_outputs import GraphOutputs, records_graphs
from breakscope.static.usage.loops import path_of
from breakscope.static.usage.scope import Local, Scope, decide, key, merge, merged
from breakscope.static.usage.state import State
from breakscope.static.usage.syntax import bound, is_main, kept, pairs, reports
from breakscope.static.usage.timing import timed_calls
from breakscope.static.usage.wrapping import decorated

USE = "the use of torch.compile here"
BROAD = frozenset({"", "Exception", "BaseException"})


class OutOfWork(Exception):
    """The file takes more work than it is allowed."""


class Follower:
    """Follows the statements of one file; what it sees becomes events of one activation."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.expressions = Expressions(state, self.function)
        self.followed: dict[tuple, Value] = {}
        self.depth = 0
        self.work = 0

    def give_up(self, message: str, node: ast.AST | None) -> None:
        """Note that a statement is not followed."""
        state = self.state
        frame = Frame(state.module, None, None, None, False, 0, state.function_name)
        state.machine.give_up(message, node, frame)

    def top_level(self) -> None:
        """Follow the module's own statements."""
        self.block(self.state.module.tree.body)
        self.outputs(self.state.module.tree)

    def outputs(self, node: ast.AST) -> None:
        """What becomes of the outputs of compiled code in a function's own statements, or in the
        module's."""
        if self.state.silent or not self.state.compiled_calls:
            return
        calls = self.state.compiled_calls
        emit_differentiated(self.state, calls, node)
        if graphs := {call: value for call, value in calls.items() if records_graphs(value)}:
            GraphOutputs(self.state, graphs).function(node)
            emit_added_gradients(self.state, graphs, node)

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
        before = self.state.scope, self.state.function_name
        self.state.scope, self.state.function_name = (
            Scope(qualname, outer or self.state.globals, dict(known), bound(node)),
            qualname,
        )
        self.state.scope.repeated = frozenset({"self"}) if repeats else repeated
        self.state.scope.kept = kept(node)
        self.depth += 1
        self.block(node.body)
        self.outputs(node)
        for inner in self.state.scope.inner:
            self.function(inner.node, inner.qualname, outer=self.state.scope)
        result = UNKNOWN
        for i, value in enumerate(self.state.scope.returns):
            result = value if i == 0 else merge(result, value)
        self.depth -= 1
        self.state.scope, self.state.function_name = before
        self.followed[about] = result
        return result

    def left_on_self(self, method: ast.AST) -> dict[str, Wrapped]:
        """What a method leaves wrapped on `self`, without recording events."""
        scope, silent = self.state.scope, self.state.silent
        self.state.scope, self.state.silent = Scope("", self.state.globals, {}, bound(method)), True
        self.block(method.body)
        names = self.state.scope.names
        self.state.scope, self.state.silent = scope, silent
        return {
            p: v
            for p, v in names.items()
            if p.startswith("self.") and isinstance(v, Wrapped) and v.is_compiled
        }

    def block(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            self.work += 1
            if self.work > limits.MOST_USAGE_STATEMENTS:
                raise OutOfWork
            try:
                self.statement(statement)
            except OutOfWork:
                raise
            except Exception as problem:
                self.give_up(why(problem, USE), statement)
            if self.state.scope.ended:
                break
        if not self.state.scope.loops and not self.state.silent:
            for node, call, what in timed_calls(self.state, self.expressions.eval, statements):
                value = self.state.look_up(path_of(call.func))
                if isinstance(value, Wrapped):
                    certainty = "likely" if value.sometimes or what == "launching" else "certain"
                    self.state.emit(
                        Timed,
                        node,
                        certainty,
                        value=value,
                        subject=ast.unparse(call.func),
                        what=what,
                    )

    def statement(self, node: ast.stmt) -> None:
        self.state.running = node
        handler = getattr(self, f"do_{type(node).__name__}", None)
        if handler is not None:
            handler(node)
            return
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.expressions.eval(child)

    def do_Expr(self, node: ast.Expr) -> None:
        self.expressions.eval(node.value, result="dropped")

    def do_Assign(self, node: ast.Assign) -> None:
        parts = pairs(node.targets[0], node.value)
        if parts:
            for target, value in [
                (target, self.expressions.eval(part, "assigned")) for target, part in parts
            ]:
                self.expressions.bind(target, value)
            return
        value = self.expressions.eval(node.value, result="assigned")
        for target in node.targets:
            self.expressions.bind(target, value, node)

    def do_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.expressions.bind(
                node.target, self.expressions.eval(node.value, result="assigned"), node
            )

    def do_AugAssign(self, node: ast.AugAssign) -> None:
        self.expressions.bind(node.target, self.expressions.eval(node.value) and UNKNOWN, node)

    def do_Return(self, node: ast.Return) -> None:
        self.state.scope.returns.append(
            self.expressions.eval(node.value) if node.value is not None else UNKNOWN
        )
        self.state.scope.ended = True

    def do_Raise(self, node: ast.Raise) -> None:
        self.state.scope.ended = True

    def do_Continue(self, node: ast.stmt) -> None:
        self.state.scope.ended = True

    do_Break = do_Continue

    def do_If(self, node: ast.If) -> None:
        scope = self.state.scope
        known = self.expressions.eval(node.test)
        if type(known) is Const and type(known.value) is bool and not scope.loops:
            self.inside(node, node.body if known.value else node.orelse)
            return
        test = self.state.machine.text(node.test, self.state.module)
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
        self.state.scope.nesting.append(node)
        self.block(body)
        self.state.scope.nesting.pop()

    def do_For(self, node: ast.For) -> None:
        self.expressions.eval(node.iter)
        self.loop(node)

    do_AsyncFor = do_For

    def do_While(self, node: ast.While) -> None:
        self.expressions.eval(node.test)
        self.loop(node)

    def loop(self, node: ast.For | ast.While) -> None:
        """Two passes: the second begins with what the first left."""
        scope = self.state.scope
        before = dict(scope.names)
        scope.loops.append(node)
        for _ in range(2):
            if isinstance(node, ast.For | ast.AsyncFor):
                self.expressions.bind(node.target, UNKNOWN)
            self.inside(node, node.body)
            scope.ended = False
        scope.loops.pop()
        scope.names = {p: merge(v, before[p]) if p in before else v for p, v in scope.names.items()}
        self.block(node.orelse)

    def do_With(self, node: ast.With) -> None:
        for item in node.items:
            self.expressions.eval(item.context_expr)
            if item.optional_vars is not None:
                self.expressions.bind(item.optional_vars, UNKNOWN)
        self.inside(node, node.body)

    do_AsyncWith = do_With

    def do_Try(self, node: ast.Try) -> None:
        scope = self.state.scope
        before, first, uses = dict(scope.names), len(self.state.activation.steps), self.state.uses
        self.inside(node, node.body)
        self._attempted(node, first, self.state.uses > uses)
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
        silent = not any(isinstance(part, ast.Call) and reports(part) for part in walk(broad))
        for i in range(first, len(self.state.activation.steps)):
            event = self.state.activation.steps[i].event
            if isinstance(event, Wrap) and not used:
                event = replace(event, ignored=path_of(broad.type) or "Exception")
            elif isinstance(event, Use) and event.name == "()" and silent:
                event = replace(event, swallowed=True)
            self.state.activation.steps[i] = Step(event)

    def do_FunctionDef(self, node: ast.FunctionDef) -> None:
        qualname = (
            f"{self.state.scope.qualname}.{node.name}" if self.state.scope.qualname else node.name
        )
        value: Value = Local(node, qualname, self.state.scope)
        if self.state.scope is not self.state.globals:
            self.state.scope.inner.append(value)
        for decorator in reversed(node.decorator_list):
            value = decorated(self.state, decorator, self.expressions.eval(decorator), value, node)
        self.state.scope.names[node.name] = value

    do_AsyncFunctionDef = do_FunctionDef

    def do_ClassDef(self, node: ast.ClassDef) -> None:
        self.state.scope.names.pop(node.name, None)
        if self.state.scope is not self.state.globals:
            self.state.scope.names[node.name] = UNKNOWN

    def do_Import(self, node: ast.Import) -> None:
        if self.state.scope is not self.state.globals:
            for name in node.names:
                self.state.scope.names[name.asname or name.name.partition(".")[0]] = External(
                    name.name if name.asname else name.name.partition(".")[0]
                )

    def do_ImportFrom(self, node: ast.ImportFrom) -> None:
        if self.state.scope is not self.state.globals:
            for name in node.names:
                full = f"{node.module}.{name.name}"
                self.state.scope.names[name.asname or name.name] = (
                    External(canonical_name(self.state.machine, full))
                    if node.level == 0
                    else UNKNOWN
                )

    def do_Global(self, node: ast.Global) -> None:
        self.state.scope.bound -= set(node.names)

    do_Nonlocal = do_Global
