"""Evaluates comprehensions and generator expressions, row by row where the source is known."""

from __future__ import annotations

import ast

from breakscope import limits
from breakscope.rulekit.events import Comprehension
from breakscope.rulekit.values import UNKNOWN, Const, Dict, Sequence, Value, options
from breakscope.rulekit.walking import kept_with_node, walk
from breakscope.static.interpreter.assignment import assign_target
from breakscope.static.interpreter.conditions import narrow_by, test_condition
from breakscope.static.interpreter.eager_frames import is_comprehension_compiled_by_itself
from breakscope.static.machine.frames import Activation, Frame, Step
from breakscope.static.machine.lattice import join_all
from breakscope.static.machine.machine import Machine
from breakscope.static.variables.dicts import put_key
from breakscope.static.variables.effects.emitting import emit_call
from breakscope.static.variables.effects.kept_iterators import note_kept
from breakscope.static.variables.effects.unmade_iterators import CALL, is_unmade, unmade
from breakscope.static.variables.library.builtin_iteration import different_items
from breakscope.static.variables.library.followed.driven_items import driven_items
from breakscope.static.variables.library.followed.followed_iteration import listed
from breakscope.static.variables.modules.containers import contents_of
from breakscope.static.variables.tensors.filtered import note_filtered

# a comprehension that begins with another iterator breaks at once
ITERATED = ("tuple", "range", "size")
NAMED = "first assignment of a variable in a comprehension"


def eval_dict_comp(machine: Machine, node: ast.DictComp, frame: Frame) -> Value:
    rows, known, _ = comprehension_rows(
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
    rows, known, source = comprehension_rows(
        machine, node, frame, lambda: machine.eval(node.elt, frame)
    )
    if not known:
        made = Sequence(type_, None, join_all(rows), is_once=type_ == "generator")
        if type_ == "generator" and not _has_rows(source):
            unmade(made, CALL, frame)
        if type_ == "list" and machine.driver.sets and not frame.emits:
            note_filtered(machine, made, source, bool(node.generators[0].ifs))
        return made
    made = Sequence(type_, different_items(rows) if type_ == "set" else list(rows))
    made.is_once = type_ == "generator"
    return unmade(made, CALL, frame) if made.is_once and not _has_rows(source) else made


def _has_rows(source: Value) -> bool:
    """True for what a generator expression goes over without changing anything: Dynamo has its rows."""
    return type(source) is Dict or (type(source) is Sequence and source.type == "range")


def comprehension_rows(machine: Machine, node, frame: Frame, produce) -> tuple[list, bool, Value]:
    """What a comprehension produces, whether that is exactly known (short, known source and no open filter), and
    what it goes over."""
    before, skips, outer = frame.names, frame.skips, frame.activation
    frame.names = dict(before)
    named = _named_in(node, frame)
    try:
        first = node.generators[0]
        source = contents_of(machine, machine.eval(first.iter, frame))
        is_frame = machine.python < (3, 12) and frame.emits
        if is_frame:
            iterates_tuple = isinstance(first.iter, ast.List)  # the compiler makes a tuple of it
            by_itself = not isinstance(
                node, ast.GeneratorExp
            ) and is_comprehension_compiled_by_itself(machine, node, frame)
            if by_itself and not iterates_tuple:
                machine.emit(Comprehension, first.iter, frame, iterable=source)
        note_kept(machine, [source], first.iter, frame, "comprehension")
        if is_frame:
            frame.activation = Activation(outer.function, outer.module, node.lineno)
            frame.activation.is_compiled_by_itself = by_itself and (
                iterates_tuple or is_iterated_by_itself(source)
            )
            # no resuming inside a generator
            is_left = isinstance(node, ast.GeneratorExp) or is_unmade(source)
            stays = skips or ("call" if is_left else "")
            outer.steps.append(Step(None, frame.activation, stays, node))
            if not isinstance(node, ast.GeneratorExp):
                _note_named(machine, named, before, frame)
        frame.skips = skips or "comprehension"
        items = source.items if isinstance(source, Sequence) else None
        if isinstance(source, Dict) and not source.open:
            items = [Const(k) for k in source.items]
        elif type(source) is Const and isinstance(source.value, str):
            items = [Const(letter) for letter in source.value]
        is_followed, some = machine.driver.sets and not frame.emits, None
        if items is None and is_followed:
            items = listed(machine, source, first.iter, frame)
        if items is None and is_followed:
            some = driven_items(machine, source, first.iter, frame)
            items = None if some is None else [*some]
        most = limits.MOST_KNOWN_TURNS if is_followed else limits.MOST_COMPREHENSION_ITEMS
        if items is None or len(items) > most:
            return rows_of_any(machine, node, 0, source, frame, produce), False, source
        if frame.emits and getattr(source, "home", ""):
            machine.region.note_read((id(source), ""), first.iter, frame)
        rows, known = rows_of_each(machine, node, 0, items, frame, produce)
        return rows, known and some is None, source
    finally:
        before |= {name: frame.names[name] for name in named if name in frame.names}
        frame.names, frame.skips, frame.activation = before, skips, outer


def _named_in(node: ast.expr, frame: Frame) -> dict[str, ast.NamedExpr]:
    """The variables of the function that a comprehension sets, `(y := f(x))`, where it sets them."""
    return _sets_in(node) if b":=" in frame.module.text else {}


@kept_with_node
def _sets_in(node: ast.expr) -> dict[str, ast.NamedExpr]:
    return {part.target.id: part for part in walk(node) if isinstance(part, ast.NamedExpr)}


def _note_named(
    machine: Machine, named: dict[str, ast.NamedExpr], known: dict[str, Value], frame: Frame
) -> None:
    """Emit where a comprehension that is a function of its own sets a variable of the one around it for the first time."""
    for name, part in named.items():
        if name not in known and name not in frame.globals_:
            emit_call(machine, NAMED, None, (), {}, part, frame)


def rows_of_each(
    machine: Machine, node, depth: int, items: list[Value], frame: Frame, produce
) -> tuple[list, bool]:
    """The rows that each item gives, and whether these are all."""
    rows, known = [], True
    for item in items:
        more, sure = rows_of_one(machine, node, depth, item, frame, produce)
        rows.extend(more)
        known = known and sure
    return rows, known


def rows_of_one(
    machine: Machine, node, depth: int, item: Value, frame: Frame, produce
) -> tuple[list, bool]:
    machine.budget.spend(1)
    assign_target(machine, node.generators[depth].target, item, frame, node)
    verdict = test_filters(machine, node.generators[depth].ifs, frame)
    if verdict is False:
        return [], True
    if depth + 1 == len(node.generators):
        return [produce()], verdict is True
    inner = node.generators[depth + 1].iter
    source = machine.eval(inner, frame)
    items = listed(machine, source, inner, frame) if not frame.emits else None
    if items is None or len(items) > limits.MOST_KNOWN_TURNS:
        return rows_of_any(machine, node, depth + 1, source, frame, produce), False
    rows, known = rows_of_each(machine, node, depth + 1, items, frame, produce)
    return rows, known and verdict is True


def rows_of_any(machine: Machine, node, depth: int, source: Value, frame: Frame, produce) -> list:
    """What a source gives whose items are not known: what any of them does."""
    element = machine.iterate(source, node.generators[depth].iter, frame)
    if element is None:
        return []
    with machine.driver.one_for_many():
        return rows_of_one(machine, node, depth, element, frame, produce)[0]


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
