"""Assigns values to targets: names, attributes, items, and several of them at once."""

from __future__ import annotations

import ast

from breakscope.rulekit.events import Store
from breakscope.rulekit.values import UNKNOWN, Dict, Sequence, Value
from breakscope.rulekit.walking import uses_of
from breakscope.static.definitions.homes import note_nested
from breakscope.static.definitions.names import module_names
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.lattice import join
from breakscope.static.machine.machine import Machine
from breakscope.static.variables.effects.emitting import emit_drawn
from breakscope.static.variables.effects.kept_iterators import note_kept
from breakscope.static.variables.effects.side_effects import emit_store, note_outside
from breakscope.static.variables.tensors.indexing import index_parts

CONTAINERS = (Sequence, Dict)


def assign_target(
    machine: Machine,
    target: ast.expr,
    value: Value,
    frame: Frame,
    node: ast.AST,
    old: Value | None = None,
) -> None:
    """Bind `value` to a target. `node` is the statement, `old` the previous value of an
    augmented assignment."""
    kind = type(target)
    if kind is ast.Name:
        assign_name(machine, target, value, frame, node, old)
    elif kind in (ast.Tuple, ast.List):
        assign_unpacked(machine, target.elts, value, frame, node)
    elif kind is ast.Attribute:
        machine.setattr(
            machine.eval(target.value, frame), target.attr, value, target, node, frame, old
        )
    elif kind is ast.Subscript:
        container, index = machine.eval(target.value, frame), machine.eval(target.slice, frame)
        emit_drawn(machine, index_parts(index), target, frame)
        machine.setitem(container, index, value, target, node, frame)
    elif kind is ast.Starred:
        assign_target(machine, target.value, Sequence("list", None, value), frame, node)


def assign_name(
    machine: Machine, target: ast.Name, value: Value, frame: Frame, node: ast.AST, old: Value | None
) -> None:
    name = target.id
    if name in frame.globals_:
        names = module_names(machine, frame.module)
        initial = names.get(name, UNKNOWN)
        emit_store(
            machine,
            Store,
            node,
            frame,
            (id(frame.module), name),
            owner="",
            name=name,
            scope="global",
            value=value,
            initial=initial,
            reads_itself=old is not None or _mentions(node, name),
        )
        if not frame.emits:
            note_outside(machine, frame.module, name, value, initial, frame, node)
            machine.touch_name(names, name, frame.module)
            names[name] = value
            machine.objects.imports.clear()
        return
    if name in frame.nonlocals:
        scope = frame.enclosing(name)
        if scope is not None:
            if not scope.emits or scope.begun_within != frame.within:  # else it ends there
                emit_store(
                    machine,
                    Store,
                    node,
                    frame,
                    (id(scope), name),
                    owner="",
                    name=name,
                    scope="enclosing" if scope.emits else "nonlocal",
                    value=value,
                    initial=scope.names[name],
                    reads_itself=old is not None or _mentions(node, name),
                )
            if (
                machine.driver.calls is None
            ):  # else the calls have the closure's variables with them
                note_outside(machine, scope, name, value, scope.names[name], frame, node)
            machine.touch(scope)
            is_sure = machine.driver.sets and not frame.emits and not frame.is_in_branch()
            scope.names[name] = value if is_sure else join(scope.names[name], value)
        return
    if (
        frame.function is None
        and frame.scope is None
        and isinstance(value, CONTAINERS)
        and not value.home
        and not frame.prefix
    ):
        machine.touch(value)
        value.home = f"global {name}"
        note_nested(machine, value, name)
    if frame.function is None and machine.driver.function is frame.module and not frame.prefix:
        before = frame.names.get(name, UNKNOWN)
        note_outside(machine, frame.module, name, value, before, frame, node)
    frame.names[name] = value
    if frame.emits:
        frame.activation.note_named(value)


def assign_unpacked(
    machine: Machine, targets: list[ast.expr], value: Value, frame: Frame, node: ast.AST
) -> None:
    note_kept(machine, [value], getattr(node, "value", node), frame, "unpack")
    parts = machine.unpacked(
        value, len(targets), any(isinstance(t, ast.Starred) for t in targets), node, frame
    )
    star = next((i for i, t in enumerate(targets) if isinstance(t, ast.Starred)), None)
    if parts is not None and star is None and len(parts) == len(targets):
        for target, part in zip(targets, parts):
            assign_target(machine, target, part, frame, node)
        return
    if parts is not None and star is not None and len(parts) >= len(targets) - 1:
        after = len(targets) - star - 1
        middle = parts[star : len(parts) - after]
        for target, part in zip(targets[:star], parts):
            assign_target(machine, target, part, frame, node)
        assign_target(machine, targets[star].value, Sequence("list", middle), frame, node)
        for target, part in zip(targets[star + 1 :], parts[len(parts) - after :]):
            assign_target(machine, target, part, frame, node)
        return
    element = machine.iterate(value, node, frame) or UNKNOWN
    for target in targets:
        assign_target(machine, target, element, frame, node)


def _mentions(node: ast.AST, name: str) -> bool:
    value = getattr(node, "value", None)
    return value is not None and bool(uses_of(value, name))
