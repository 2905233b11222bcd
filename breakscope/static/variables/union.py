"""A value that is one of several, depending on the path taken."""

from __future__ import annotations

import ast
from collections.abc import Callable

from breakscope.rulekit.events import CHOSEN, Branch
from breakscope.rulekit.values import (
    External,
    ExternalInstance,
    Function,
    Instance,
    Py,
    Sequence,
    ShapeInt,
    Union,
    Value,
)
from breakscope.static.definitions.names import resolve_import
from breakscope.static.machine.frames import Frame, Raised
from breakscope.static.machine.given import both, by_condition
from breakscope.static.machine.lattice import join_all, join_under
from breakscope.static.machine.machine import Machine
from breakscope.static.variables.base import Variable
from breakscope.static.variables.constant import is_text
from breakscope.static.variables.effects.emitting import is_asked_for
from breakscope.static.variables.operators.binary import binary_operation
from breakscope.static.variables.operators.comparisons import compare_by_value

TYPES = {"tuple": tuple, "list": list}


class UnionVariable(Variable):
    """One of several values: what holds of each, joined."""

    binary_precedence = 5
    compare_precedence = 1

    def call(self, machine: Machine, callee, args, kwargs, node, frame) -> Value:
        """Call each that it may be; a library's object beside a module of the source is only
        possibly what is called, unless it is known when."""
        results, called, certainty, undecided = [], [], frame.certainty, frame.undecided
        before = frame.condition
        # one function of several
        functions = [o for o in callee.options if type(o) is Function]
        chosen = len(functions) > 1 and not _takes_turns(functions, node)
        own = any([type(option) is Instance for option in callee.options])
        for option, condition in by_condition(callee, frame.condition):
            if not option.is_none:
                named = resolve_import(machine, option)  # an import that may fail is still one here
                option = named if type(named) is External else option
                is_library = own and type(option) is ExternalInstance and not condition
                frame.certainty = "possible" if is_library else certainty
                frame.undecided = CHOSEN if chosen else undecided
                frame.condition = both(before, condition)
                try:
                    results.append(machine.call(option, args, kwargs, node, frame))
                    called.append(condition)
                except Raised:
                    pass
                finally:
                    frame.certainty, frame.undecided = certainty, undecided
                    frame.condition = before
        return join_under(results, called)

    def getattr(self, machine: Machine, owner, name, node, frame) -> Value:
        kept = _that_may_have(name, owner)
        rows = [
            row for row in by_condition(owner, frame.condition) if any(o is row[0] for o in kept)
        ]
        return _of_each(rows, lambda o: machine.getattr(o, name, node, frame), frame)

    def setattr(self, machine: Machine, owner, name, value, old, target, node, frame) -> None:
        for option in owner.options:
            machine.setattr(option, name, value, target, node, frame, old)

    def getitem(self, machine: Machine, container, index, store, node, frame) -> Value:
        """The item of each that it may be; who indexes with a tensor hardly means the list that it
        is beside a tensor."""
        certainty = frame.certainty
        is_tensors = index.is_tensor and any([o.is_tensor for o in container.options])

        def item(option: Value) -> Value:
            is_list = is_tensors and type(option) is Sequence
            frame.certainty = "possible" if is_list else certainty
            try:
                return machine.getitem(option, index, node, frame, store)
            finally:
                frame.certainty = certainty

        return _of_each(
            [row for row in by_condition(container, frame.condition) if not row[0].is_none],
            item,
            frame,
        )

    def setitem(
        self, machine: Machine, container, index, value, augmented, target, node, frame
    ) -> None:
        for option in container.options:
            machine.setitem(option, index, value, target, node, frame, augmented)

    def iterate(self, machine: Machine, value, node, frame) -> Value | None:
        parts = [machine.iterate(o, node, frame) for o in value.options if not o.is_none]
        return join_all([p for p in parts if p is not None])

    def unpacked(self, machine: Machine, value, count, starred, node, frame) -> list[Value] | None:
        rows = [machine.unpacked(o, count, starred, node, frame) for o in value.options]
        rows = [r for r in rows if r is not None and (starred or len(r) == count)]
        if rows and len({len(r) for r in rows}) == 1:
            return [join_all(column) for column in zip(*rows)]
        return None

    def truth(self, machine: Machine, value, construct, facts, node, frame) -> bool | None:
        verdicts, before = set(), frame.condition
        given = _is_given(value, node)
        for option, condition in by_condition(value, frame.condition):
            frame.condition = both(before, condition or (given if option.is_tensor else ""))
            if option.is_tensor:
                is_open = any(o.is_unknown for o in value.options) or is_asked_for(
                    option, node, frame
                )
                certainty = "possible" if is_open else "likely"
                machine.emit(
                    Branch, node, frame, certainty, test=option, construct=construct, **facts
                )
                verdicts.add(None)
            else:
                verdicts.add(machine.truth(option, construct, node, frame, **facts))
        frame.condition = before
        return verdicts.pop() if len(verdicts) == 1 else None

    def binary(self, machine: Machine, left, right, op, node, frame) -> Value:
        rows = [
            ((a, b), both(c, d))
            for a, c in by_condition(left, frame.condition)
            for b, d in by_condition(right, frame.condition)
            if not a.is_none
            and not b.is_none
            # a text times a tensor is nothing that a program means
            and not (op is ast.Mult and b.is_tensor and is_text(a))
        ]
        objects = [type(a) is Instance or type(b) is Instance for (a, b), _ in rows]
        certainty, is_open = frame.certainty, any(objects) and not all(objects)
        if all(objects):  # an object's operator, whichever it is
            rows = [(pair, "") for pair, _ in rows]

        def operated(row: tuple[tuple[Value, Value], str]) -> Value:
            pair, condition = row
            if is_open and not condition:
                frame.certainty = "possible"  # which of them it is, is not known
            try:
                return binary_operation(machine, *pair, op, node, frame)
            finally:
                frame.certainty = certainty

        return _of_each([(row, row[1]) for row in rows], operated, frame)

    def compare(self, machine: Machine, left, right, op, node, frame) -> Value:
        rows = [
            ((a, b), both(c, d))
            for a, c in by_condition(left, frame.condition)
            for b, d in by_condition(right, frame.condition)
        ]
        return _of_each(rows, lambda ab: compare_by_value(machine, *ab, op, node, frame), frame)

    def cast(self, machine: Machine, value, name, node, frame) -> Value:
        def cast(option: Value) -> Value:
            return machine.behaviour(option).cast(machine, option, name, node, frame)

        return _of_each(by_condition(value, frame.condition), cast, frame)

    def length(self, machine: Machine, value, node, frame) -> Value:
        return ShapeInt() if any(o.is_tensor for o in value.options) else Py("int")

    def is_configuration(self, value) -> bool:
        return any(isinstance(option, Py) for option in value.options)

    def may_show_tensor(self, machine: Machine, value, depth) -> bool:
        return any(
            machine.behaviour(option).may_show_tensor(machine, option, depth)
            for option in value.options
        )

    def enter(self, machine: Machine, manager, node, frame) -> Value:
        return join_all([machine.enter(option, node, frame) for option in manager.options])

    def leave(self, machine: Machine, manager, node, frame) -> None:
        for option in manager.options:
            machine.leave(option, node, frame)

    def skips_frame(self, machine: Machine, manager) -> bool:
        return any(machine.skips_frame(option) for option in manager.options)


def _is_given(value: Union, node: ast.AST) -> str:
    """`mask is not None`, of a variable whose truth is asked and which is None where it is no tensor; "" for others."""
    is_optional = all(option.is_none or option.is_tensor for option in value.options)
    is_named = isinstance(node, ast.Name | ast.Attribute)
    return f"{ast.unparse(node)} is not None" if is_optional and is_named else ""


def _of_each(rows: list[tuple], result: Callable, frame: Frame) -> Value:
    """What `result` makes of each, where its condition holds."""
    made, before = [], frame.condition
    for given, condition in rows:
        frame.condition = both(before, condition)
        try:
            made.append(result(given))
        finally:
            frame.condition = before
    return join_under(made, [condition for _, condition in rows])


def _takes_turns(functions: list[Function], node: ast.AST) -> bool:
    """True for `self.flows[i].inverse(x)`: of the objects that a list holds each has its turn."""
    is_of_item = isinstance(getattr(getattr(node, "func", None), "value", None), ast.Subscript)
    return is_of_item and all(type(f.bound) is Instance for f in functions)


def _that_may_have(name: str, owner: Union) -> list[Value]:
    """The options that an attribute is read of: of a tuple or an object, what no tuple has."""
    found = [option for option in owner.options if not option.is_none]
    if any(type(option) is Instance for option in found):
        return [
            o
            for o in found
            if type(o) is not Sequence or o.type not in TYPES or hasattr(TYPES[o.type], name)
        ]
    return found
