"""Objects that a region compares by which one they are: Dynamo answers with those of the first call, and has no guard
that tells a later call's from them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from breakscope.rulekit.events import Varies
from breakscope.rulekit.values import (
    Dict,
    ExternalInstance,
    Function,
    Instance,
    Sequence,
    Tensor,
    Value,
)
from breakscope.rulekit.walking import all_parameters, names_in, walk
from breakscope.static.definitions.classes import find_member
from breakscope.static.definitions.fields import is_plain
from breakscope.static.definitions.names import module_names
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.machine import Machine
from breakscope.static.regions.variation import are_alike, differing, variation

BY_IDENTITY = (ast.Is, ast.IsNot)
CONTAINED = (ast.In, ast.NotIn)
BY_EQUALITY = (ast.Eq, ast.NotEq, *CONTAINED)
COMPARED = (Sequence, Dict, ExternalInstance, Tensor)


def emit_identity(
    machine: Machine, frame: Frame, function: Function, rows: list[dict[str, Value]]
) -> None:
    """Emit where the function compares an argument with what it has by name, and the answer is not the same in all
    calls, though nothing else of the argument differs."""
    if len(rows) < 2:
        return
    closure = function.scope.names if function.scope is not None else {}
    names = {**module_names(machine, function.info.module), **closure}
    for name in rows[0]:
        values = [row[name].original for row in rows if name in row]
        if len({*map(id, values)}) < 2 or not _look_alike(machine, values):
            continue
        is_plain_object = _has_plain_equality(machine, values[0])
        for node, other in _comparisons(function.info.node, name, is_plain_object):
            target = names.get(other)
            answers = [_answer(node.ops[0], value, target) for value in values] if target else []
            # one that a closure has as well is guarded to be that
            if {*answers} == {True, False} and not (answers[0] and other in closure):
                machine.emit(Varies, node, frame, "likely", name=name, what="identity")


def _look_alike(machine: Machine, values: list[Value]) -> bool:
    """True where no guard on what the region reads of them tells one from another."""
    if are_alike(values):
        return not any(
            variation(parts) and any((id(v), path[1:]) in machine.region.reads for v in values)
            for path, parts in differing(values, 0)
        )
    is_known = all(type(value) in COMPARED for value in values)
    return is_known and not any(variation(parts) for _, parts in differing(values))


def _has_plain_equality(machine: Machine, value: Value) -> bool:
    """True for an object that equals itself only."""
    if type(value) is ExternalInstance:
        return value.name.startswith("torch.nn.")
    if type(value) is not Instance or find_member(machine, value.cls.info, "__eq__") is not None:
        return False
    return is_plain(machine, value.cls.info)


def _comparisons(
    node: ast.AST, name: str, is_plain_object: bool
) -> Iterator[tuple[ast.Compare, str]]:
    """Those of a parameter with a name from outside of the function, which decide by identity, and that name."""
    operators = BY_IDENTITY + (BY_EQUALITY if is_plain_object else ())
    inside = names_in(node, ast.Store) | {parameter.arg for parameter in all_parameters(node)}
    for part in walk(node):
        if type(part) is not ast.Compare or len(part.ops) > 1:
            continue
        sides = [part.left, *part.comparators]
        named = [side.id for side in sides if isinstance(side, ast.Name)]
        if name in named and len(named) == 2 and isinstance(part.ops[0], operators):
            yield from ((part, other) for other in named if other not in inside)


def _answer(operator: ast.cmpop, value: Value, target: Value) -> bool | None:
    """Whether Python finds them to be one; None where that is not known."""
    if isinstance(operator, CONTAINED):
        items = target.items if type(target) is Sequence else None
        return None if items is None else any(item.original is value for item in items)
    return target.original is value
