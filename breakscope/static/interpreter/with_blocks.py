"""Runs `with`: what entering binds, what leaving restores, and which breaks inside cannot be
resumed."""

from __future__ import annotations

import ast

from breakscope.rulekit.values import (
    UNKNOWN,
    ExternalInstance,
    Function,
    Instance,
    Sequence,
    Value,
    options,
)
from breakscope.static.interpreter.assignment import assign_target
from breakscope.static.interpreter.blocks import exec_block
from breakscope.static.machine.frames import GO_ON, Frame, Raised
from breakscope.static.machine.machine import Machine
from breakscope.static.project.generators import is_generator
from breakscope.static.variables.effects.entered_contexts import note_entered
from breakscope.static.variables.library.followed.evaluated import is_followed


def exec_with(machine: Machine, node: ast.With, frame: Frame) -> int:
    manager = _own_manager(machine, node.items[0].context_expr, frame)
    if manager is not None:
        return _run_inside(machine, manager, node, frame)
    skips, emits_leave, state = frame.skips, [], dict(machine.driver.state)
    swallows = False
    for item in node.items:
        manager = machine.eval(item.context_expr, frame)
        if frame.emits and any(isinstance(option, Instance) for option in options(manager)):
            # nor can a break inside its __enter__ and __exit__ be resumed
            frame.skips = frame.skips or "with"
        if isinstance(manager, Sequence) and manager.type == "generator":
            _runs_around(item.context_expr, frame)
        entered = machine.enter(manager, item.context_expr, frame)
        if item.optional_vars is not None:
            assign_target(machine, item.optional_vars, entered, frame, node)
        if frame.emits and machine.skips_frame(manager):
            frame.skips = frame.skips or "with"
        note_entered(machine, manager, item.context_expr, frame)
        swallows = swallows or (
            isinstance(manager, ExternalInstance) and manager.name == "contextlib.suppress"
        )
        emits_leave.append(manager)
    try:
        status = exec_block(machine, node.body, frame)
    except Raised:
        if not swallows:
            raise
        status = GO_ON
    machine.driver.state = state
    for manager in reversed(emits_leave):
        machine.leave(manager, node, frame)
    frame.skips = skips
    return status


def _runs_around(made: ast.expr, frame: Frame) -> None:
    """Note that a break in the generator function that a context comes from cannot be resumed."""
    last = frame.activation.steps[-1] if frame.emits and frame.activation.steps else None
    if last is not None and last.child is not None and last.node is made:
        last.skips = last.skips or "with"


def _own_manager(machine: Machine, made: ast.expr, frame: Frame) -> Function | None:
    """The generator function that a context of the program's own comes from, in the code around a region."""
    is_named = isinstance(made, ast.Call) and isinstance(made.func, ast.Name | ast.Attribute)
    if not is_named or not is_followed(machine, frame):
        return None
    manager = machine.eval(made.func, frame)
    is_own = type(manager) is Function and manager.info.module is frame.module
    if not is_own or "contextmanager" not in manager.info.marks:
        return None
    return manager if is_generator(manager.info) else None


def _run_inside(machine: Machine, manager: Function, node: ast.With, frame: Frame) -> int:
    """Run the body where the generator yields."""
    item, *others = node.items
    inner = node
    if others:
        inner = ast.copy_location(ast.With(items=others, body=node.body), node)
    statuses = []

    def body(value: Value) -> None:
        if item.optional_vars is not None:
            assign_target(machine, item.optional_vars, value, frame, node)
        run = exec_with if others else exec_body
        statuses.append(run(machine, inner, frame))

    waiting = (manager.info, body)
    machine.driver.bodies.append(waiting)
    try:
        machine.eval(item.context_expr, frame)
        never_yields = waiting in machine.driver.bodies
    finally:
        machine.driver.bodies = [other for other in machine.driver.bodies if other is not waiting]
    if never_yields:
        body(UNKNOWN)
    return statuses[-1] if statuses else GO_ON


def exec_body(machine: Machine, node: ast.With, frame: Frame) -> int:
    return exec_block(machine, node.body, frame)
