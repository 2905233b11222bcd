"""Evaluates comprehensions and generator expressions, row by row where the source is known."""

from __future__ import annotations

import ast

from breakscope import limits
from breakscope.rulekit.events import Comprehension
from breakscope.rulekit.values import UNKNOWN, Const, Dict, Sequence, Value, options
from breakscope.static.interpreter.assignment import assign_target
from breakscope.static.interpreter.conditions import narrow_by, test_condition
from breakscope.static.interpreter.eager_frames import is_comprehension_compiled_by_itself
from breakscope.static.machine.frames import Activation, Frame, Step
from breakscope.static.machine.lattice import join_all
from breakscope.static.machine.machine import Machine
from breakscope.static.variables.dicts import put_key
from breakscope.static.variables.library.driven_items import driven_items
from breakscope.static.variables.objects.module_containers import contents_of

# a comprehension that begins with another iterator breaks at once
ITERATED = ("tuple", "range", "size")


def eval_dict_comp(machine: Machine, node: ast.DictComp, frame: Frame) -> Value:
    rows, known = comprehension_rows(
        machine,
        node,
        frame,
        lambda: (machine.eval(node.key, frame), machine.eval(node.value, frame)),
    )
    is_followed = machine.driver.sets and not frame.emits
    result = Dict({}, UNKNOWN, open=not known and not is_followed)
    for key, value in rows:
        put_key(result, key, value)
    result.open = result.open or not known
    return result


def eval_comprehension(machine: Machine, node, frame: Frame, type_: str) -> Value:
    rows, known = comprehension_rows(machine, node, frame, lambda: machine.eval(node.elt, frame))
    return Sequence(type_, list(rows)) if known else Sequence(type_, None, join_all(rows))


def comprehension_rows(machine: Machine, node, frame: Frame, produce) -> tuple[list, bool]:
    """What a comprehension produces, and whether that is exactly known (short, known source and
    no open filter)."""
    before, skips, outer = frame.names, frame.skips, frame.activation
    frame.names = dict(before)
    try:
        first = node.generators[0]
        source = contents_of(machine, machine.eval(first.iter, frame))
        if machine.python < (3, 12) and frame.emits:  # a comprehension is a frame of its own
            iterates_tuple = isinstance(first.iter, ast.List)  # the compiler makes a tuple of it
            by_itself = not isinstance(
                node, ast.GeneratorExp
            ) and is_comprehension_compiled_by_itself(machine, node, frame)
            if by_itself and not iterates_tuple:
                machine.emit(Comprehension, first.iter, frame, iterable=source)
            frame.activation = Activation(outer.function, outer.module, node.lineno)
            frame.activation.is_compiled_by_itself = by_itself and (
                iterates_tuple or is_iterated_by_itself(source)
            )
            # no resuming inside a generator
            stays = skips or ("call" if isinstance(node, ast.GeneratorExp) else "")
            outer.steps.append(Step(None, frame.activation, stays, node))
        frame.skips = skips or "comprehension"
        items = source.items if isinstance(source, Sequence) else None
        if isinstance(source, Dict) and not source.open:
            items = [Const(k) for k in source.items]
        elif type(source) is Const and isinstance(source.value, str):
            items = [Const(letter) for letter in source.value]
        is_followed, some = machine.driver.sets and not frame.emits, None
        if items is None and is_followed:
            some = driven_items(machine, source, first.iter, frame)
            items = None if some is None else [*some]
        most = limits.MOST_KNOWN_TURNS if is_followed else limits.MOST_COMPREHENSION_ITEMS
        if items is None or len(items) > most:
            element = machine.iterate(source, first.iter, frame)
            return produced_rows(
                machine, node, 0, [element] if element is not None else [], frame, produce
            ), False
        if frame.emits and getattr(source, "home", ""):
            machine.region.reads.setdefault((id(source), ""), (frame.activation, first.iter))
        rows, known = [], True
        for item in items:
            more, sure = produced_known_rows(machine, node, item, frame, produce)
            rows.extend(more)
            known = known and sure
        return rows, known and some is None and len(node.generators) == 1
    finally:
        frame.names, frame.skips, frame.activation = before, skips, outer


def produced_known_rows(
    machine: Machine, node, item: Value, frame: Frame, produce
) -> tuple[list, bool]:
    machine.budget.spend(1)
    assign_target(machine, node.generators[0].target, item, frame, node)
    verdict = test_filters(machine, node.generators[0].ifs, frame)
    if verdict is False:
        return [], True
    if len(node.generators) > 1:
        return nested_rows(machine, node, 1, frame, produce), False
    return [produce()], verdict is True


def produced_rows(
    machine: Machine, node, depth: int, elements: list[Value], frame: Frame, produce
) -> list:
    rows = []
    for element in elements:
        machine.budget.spend(1)
        assign_target(machine, node.generators[depth].target, element, frame, node)
        if test_filters(machine, node.generators[depth].ifs, frame) is not False:
            rows.extend(
                nested_rows(machine, node, depth + 1, frame, produce)
                if depth + 1 < len(node.generators)
                else [produce()]
            )
    return rows


def nested_rows(machine: Machine, node, depth: int, frame: Frame, produce) -> list:
    iterable = machine.eval(node.generators[depth].iter, frame)
    element = machine.iterate(iterable, node.generators[depth].iter, frame)
    return produced_rows(
        machine, node, depth, [element] if element is not None else [], frame, produce
    )


def test_filters(machine: Machine, tests: list[ast.expr], frame: Frame) -> bool | None:
    verdict: bool | None = True
    for test in tests:
        truth = test_condition(machine, test, frame, "comprehension")
        if truth is False:
            return False
        narrow_by(machine, test, True, frame)
        verdict = verdict if truth is True else None
    return verdict


def is_iterated_by_itself(iterable: Value) -> bool:
    """True for what a comprehension of its own can begin to iterate."""
    return all(
        option.is_tensor
        or getattr(option, "type", "") in ITERATED
        or (isinstance(option, Const) and not isinstance(option.value, str))
        for option in options(iterable)
    )
