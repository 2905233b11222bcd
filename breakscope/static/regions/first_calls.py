"""Containers that grow in the first call of a region only: what makes them longer is called behind a flag, which the
region sets, or behind a test for None, which it fills."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from msgspec.structs import replace

from breakscope.rulekit.events import Store
from breakscope.rulekit.values import Const
from breakscope.rulekit.walking import walk, walk_lines
from breakscope.static.machine.frames import Activation, Step
from breakscope.static.machine.state import RegionState
from breakscope.static.variables.effects.settling import ifs_around

Callers = dict[Activation, list[tuple[Activation, ast.AST]]]


def settle_first_calls(region: RegionState, root: Activation) -> None:
    """Mark what grows so as bounded, once all that the region does is known."""
    if not region.grown:
        return
    flags = Flags(region, _callers(root))
    for activation, index, _ in region.grown:
        event = activation.steps[index].event
        if not event.bounded and flags.stop(activation, event.node):
            activation.steps[index] = Step(replace(event, bounded=True))


class Flags:
    """The attributes that a region turns, so that a test of them is another one from its second call on."""

    def __init__(self, region: RegionState, callers: Callers) -> None:
        self.callers = callers
        self.behind: dict[Activation, bool] = {}
        self.stores: dict[str, list[tuple[Activation, ast.AST]]] = {}
        stores = [
            (activation, activation.steps[index].event) for activation, index, _ in region.pending
        ]
        turned_back = {event.name for _, event in stores if not _turns(event)}
        for activation, event in stores:
            if event.scope == "attribute" and event.name not in turned_back:
                self.stores.setdefault(event.name, []).append((activation, event.node))

    def stop(self, activation: Activation, node: ast.AST) -> bool:
        """True where code of a function, or all calls of it, stand behind a test that is turned there."""
        function = _function_around(activation, node)
        if function is not None and any(
            self._is_turned(test, activation, first, last)
            for test, first, last in _tests_before(function, node)
        ):
            return True
        if activation not in self.behind:
            self.behind[activation] = False  # for a function that calls itself
            callers = self.callers.get(activation, [])
            self.behind[activation] = bool(callers) and all(
                self.stop(caller, call) for caller, call in callers
            )
        return self.behind[activation]

    def _is_turned(self, test: ast.expr, activation: Activation, first: int, last: int) -> bool:
        asked = {part.attr for part in walk(test) if isinstance(part, ast.Attribute)}
        return any(
            self._happens(store, node, activation, first, last, set())
            for name in asked
            for store, node in self.stores.get(name, ())
        )

    def _happens(
        self,
        within: Activation,
        node: ast.AST,
        activation: Activation,
        first: int,
        last: int,
        seen: set[Activation],
    ) -> bool:
        """True for what the lines of a function do, or what these call does."""
        if within is activation:
            return first <= node.lineno <= last
        callers = [] if within in seen else self.callers.get(within, [])
        seen.add(within)
        return any(
            self._happens(caller, call, activation, first, last, seen) for caller, call in callers
        )


def _turns(event: Store) -> bool:
    """True for a store of another constant than was there, or of anything in the place of None."""
    if type(event.initial) is not Const:
        return False
    if event.initial.is_none:
        return not event.value.is_none
    return type(event.value) is Const and event.value.value != event.initial.value


def _callers(root: Activation) -> Callers:
    callers: Callers = {}
    found, done = [root], {root}
    while found:
        activation = found.pop()
        for step in activation.steps:
            if step.child is not None and isinstance(step.node, ast.AST):
                callers.setdefault(step.child, []).append((activation, step.node))
                if step.child not in done:
                    done.add(step.child)
                    found.append(step.child)
    return callers


def _function_around(activation: Activation, node: ast.AST) -> ast.AST | None:
    """The function in whose lines a node of an activation stands."""
    line = getattr(node, "lineno", 0)
    around = [
        part
        for part in walk_lines(activation.module.tree, line, line)
        if isinstance(part, ast.FunctionDef) and part.lineno <= line <= part.end_lineno
    ]
    return max(around, key=lambda part: part.lineno, default=None)


def _tests_before(function: ast.FunctionDef, node: ast.AST) -> Iterator[tuple[ast.expr, int, int]]:
    """The tests that decide whether a node runs, with the first and last line of what runs with it."""
    for block in ifs_around(function, node.lineno):
        yield block.test, block.body[0].lineno, block.body[-1].end_lineno
    for statement in function.body:
        if statement.end_lineno >= node.lineno:
            return
        if isinstance(statement, ast.If) and isinstance(statement.body[-1], ast.Return):
            yield statement.test, statement.end_lineno + 1, function.end_lineno
