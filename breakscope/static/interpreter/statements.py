"""Runs simple statements and definitions: one function for each class of `ast` node."""

from __future__ import annotations

import ast
from contextlib import suppress

from msgspec.structs import replace

from breakscope.rulekit.events import Statement
from breakscope.rulekit.values import (
    NONE,
    UNKNOWN,
    Class,
    Const,
    Dict,
    External,
    Function,
    Instance,
    Py,
    Sequence,
    Tensor,
    Value,
)
from breakscope.static.definitions.annotations import value_of_annotation
from breakscope.static.definitions.binding import defaults_of
from breakscope.static.definitions.classes import find_member
from breakscope.static.definitions.decorators import decorate
from breakscope.static.definitions.names import resolve_import
from breakscope.static.interpreter.assignment import assign_name, assign_target
from breakscope.static.interpreter.calls.call_expressions import eval_arguments
from breakscope.static.interpreter.conditions import test_condition
from breakscope.static.interpreter.narrowing import narrow_by, narrow_by_unpacking
from breakscope.static.machine.frames import GO_ON, LEAVE_LOOP, RETURN, Frame, Raised
from breakscope.static.machine.library import COMPILING
from breakscope.static.machine.machine import Machine
from breakscope.static.machine.watch import may_be_in_graph
from breakscope.static.project.modules import ClassInfo
from breakscope.static.variables.dicts import delete_key
from breakscope.static.variables.effects.constant_lists import note_changed
from breakscope.static.variables.effects.emitting import emit_call
from breakscope.static.variables.effects.list_slices import delete_item
from breakscope.static.variables.effects.side_effects import (
    note_change,
    note_mutation,
    note_outside,
    shrinks_late,
)
from breakscope.static.variables.lists import extend_sequence
from breakscope.static.variables.objects.attribute_stores import emit_enclosing, outlives_subgraph
from breakscope.static.variables.objects.autograd import DELETED, is_context
from breakscope.static.variables.objects.returned import note_returned
from breakscope.static.variables.operators.binary import binary_operation
from breakscope.static.variables.tensors.indexing import masked_index

# what gives a tensor other dimensions in place
RESHAPING = frozenset({"squeeze_", "unsqueeze_"})


def exec_expr(machine: Machine, node: ast.Expr, frame: Frame) -> int:
    if not isinstance(node.value, ast.Constant):
        machine.region.for_effect = node.value
        value = machine.eval(node.value, frame)
        match node.value:
            case ast.Call(ast.Attribute(ast.Name(name), method)) if method in RESHAPING:
                if type(value) is type(before := frame.names.get(name)) is Tensor:
                    frame.names[name] = replace(before, ndim=value.ndim, shape=value.shape)
    return GO_ON


def exec_pass(machine: Machine, node, frame: Frame) -> int:
    return GO_ON


def exec_assign(machine: Machine, node: ast.Assign, frame: Frame) -> int:
    if isinstance(node.targets[0], ast.Tuple):
        narrow_by_unpacking(node, frame)
    value = machine.eval(node.value, frame)
    for target in node.targets:
        if isinstance(target, ast.Name):
            assign_name(machine, target, value, frame, node, None)
        else:
            assign_target(machine, target, value, frame, node)
    return GO_ON


def exec_ann_assign(machine: Machine, node: ast.AnnAssign, frame: Frame) -> int:
    if node.value is None:
        return GO_ON
    value = machine.eval(node.value, frame)
    if value.is_unknown or _holds_unknown(value):
        annotated = value_of_annotation(machine, node.annotation, frame)
        if value.is_unknown or type(annotated) is type(value):
            value = annotated
    assign_target(machine, node.target, value, frame, node)
    return GO_ON


def _holds_unknown(value: Value) -> bool:
    """True for what a comprehension makes of unknown values."""
    if type(value) is Sequence:
        return value.items is None and value.element.is_unknown
    return type(value) is Dict and value.open and not value.items and value.element.is_unknown


def exec_type_alias(machine: Machine, node, frame: Frame) -> int:
    """`type Pair = tuple[int, int]`, since Python 3.12; what it stands for is looked up where
    an annotation names it."""
    frame.names[node.name.id] = UNKNOWN
    return GO_ON


def exec_aug_assign(machine: Machine, node: ast.AugAssign, frame: Frame) -> int:
    target = node.target
    if isinstance(target, ast.Subscript):
        container, index = (
            machine.eval(target.value, frame),
            masked_index(machine, target.slice, machine.eval(target.slice, frame)),
        )
        value = machine.eval(node.value, frame)
        old = machine.getitem(container, index, target, frame, store="+=")
        new = binary_operation(machine, old, value, type(node.op), node, frame)
        if not container.is_tensor:
            machine.setitem(container, index, new, target, node, frame, augmented=True)
        return GO_ON
    load = (
        ast.Name(target.id, ast.Load())
        if isinstance(target, ast.Name)
        else ast.Attribute(target.value, target.attr, ast.Load())
    )
    ast.copy_location(load, target)
    old = machine.eval(load, frame)
    value = machine.eval(node.value, frame)
    if frame.emits and (may_be_in_graph(old) or may_be_in_graph(value)):
        frame.activation.note_work(node)
    if isinstance(old, Sequence) and isinstance(node.op, ast.Add) and old.type in ("list", "deque"):
        machine.touch(old)
        extend_sequence(machine, old, value, frame, node, "extend")
        return GO_ON
    assign_target(
        machine,
        target,
        binary_operation(machine, old, value, type(node.op), node, frame),
        frame,
        node,
        old,
    )
    return GO_ON


def exec_delete(machine: Machine, node: ast.Delete, frame: Frame) -> int:
    for target in node.targets:
        if isinstance(target, ast.Name):
            frame.names.pop(target.id, None)
        elif isinstance(target, ast.Attribute) and (frame.within or not frame.emits):
            delete_attribute(machine, machine.eval(target.value, frame), target, frame)
        elif isinstance(target, ast.Subscript):
            container, key = machine.eval(target.value, frame), machine.eval(target.slice, frame)
            if isinstance(container, Dict | Sequence):
                note_change(machine, container, target, frame)
                if machine.driver.sets and container.home and not frame.emits:
                    note_mutation(machine, container, "__delitem__", frame, target)
            if isinstance(container, Dict):
                delete_key(machine, container, key, frame)
            elif isinstance(container, Py):
                name = f"{container.type}.__delitem__"
                emit_call(machine, name, container, (key,), {}, target, frame)
            elif isinstance(container, Sequence):
                if not shrinks_late(machine, node, container.home, frame, container):
                    machine.region.shrunk.add(id(container))
                note_changed(machine, container, "__delitem__", target, frame)
                delete_item(machine, container, key, frame)
    return GO_ON


def delete_attribute(machine: Machine, owner: Value, target: ast.Attribute, frame: Frame) -> None:
    """`del owner.name` outside of regions, or in a subgraph."""
    if frame.emits:
        if is_context(machine, owner):
            emit_call(machine, DELETED, owner, (), {}, target, frame)
        elif isinstance(owner, Instance) and outlives_subgraph(machine, owner):
            source = machine.text(target.value, frame.module)
            emit_enclosing(machine, source, target.attr, NONE, target, frame)
        return
    before = owner.attributes.get(target.attr) if isinstance(owner, Instance) else None
    if before is not None and not frame.is_in_branch():
        note_outside(machine, owner, target.attr, NONE, before, frame, target)
        machine.touch(owner)
        del owner.attributes[target.attr]


def exec_return(machine: Machine, node: ast.Return, frame: Frame) -> int:
    value = machine.eval(node.value, frame) if node.value is not None else NONE
    # Beside a path that asks torch whether it compiles, others are for a torch without that function.
    if value is COMPILING:
        frame.returns.clear()
    elif (
        isinstance(value, Const)
        and value.value is False
        and any(known is COMPILING for known in frame.returns)
    ):
        return RETURN
    note_returned(machine, value, node, frame)
    frame.returns.append(value)
    return RETURN


def exec_raise(machine: Machine, node: ast.Raise, frame: Frame) -> int:
    rare, worked = frame.rare, frame.activation and frame.activation.worked
    frame.rare = rare or not frame.caught  # what the message of an error needs, when all ends
    value = machine.eval(node.exc, frame) if node.exc is not None else frame.handled or UNKNOWN
    frame.rare = rare
    if frame.activation is not None:
        frame.activation.worked = worked  # an error is no part of a graph
    if isinstance(value, Instance):
        machine.emit(
            Statement,
            node,
            frame,
            construct="raise object",
            name=value.cls.info.name,
            value=value,
        )
    raise Raised(value)


def exec_assert(machine: Machine, node: ast.Assert, frame: Frame) -> int:
    before = frame.names
    message = UNKNOWN
    if node.msg is not None:
        frame.names = dict(before)
        with frame.silent(), suppress(Raised):
            message = machine.eval(node.msg, frame)
        frame.names = before
    literal = node.msg is None or _is_folded(node.msg)
    truth = test_condition(
        machine,
        node.test,
        frame,
        "assert",
        raises=True,
        message=message,
        has_message=node.msg is not None,
        literal_message=literal,
    )
    if truth is False:
        raise Raised(External("AssertionError"))
    narrow_by(machine, node.test, True, frame)
    return GO_ON


def exec_global(machine: Machine, node: ast.Global, frame: Frame) -> int:
    frame.globals_ = {*frame.globals_, *node.names}
    return GO_ON


def exec_nonlocal(machine: Machine, node: ast.Nonlocal, frame: Frame) -> int:
    frame.nonlocals = {*frame.nonlocals, *node.names}
    return GO_ON


def exec_break(machine: Machine, node, frame: Frame) -> int:
    frame.breaks.append(frame.names)
    return exec_continue(machine, node, frame)


def exec_continue(machine: Machine, node, frame: Frame) -> int:
    frame.exits.append(frame.names)
    return LEAVE_LOOP


def exec_function_def(machine: Machine, node: ast.FunctionDef, frame: Frame) -> int:
    info = machine.function_info(frame.module, node, frame.prefix)
    value: Value = Function(info, scope=frame if frame.function else None)
    if frame.function:
        machine.objects.scopes.append(frame)
    info.defaults = None if frame.function else info.defaults
    defaults_of(machine, info, frame)
    made = frame.names[node.name] = decorate(machine, node, value, frame)
    if (
        frame.function
        and not frame.emits
        and type(made) is Function
        and "compiled" in made.info.marks
    ):
        machine.file.note_compiled(made, {})
    return GO_ON


def exec_class_def(machine: Machine, node: ast.ClassDef, frame: Frame) -> int:
    info = machine.objects.classes.get(id(node))
    if info is None:
        qualname = f"{frame.prefix}.{node.name}" if frame.prefix else node.name
        info = ClassInfo(node.name, qualname, node, frame.module, frame if frame.function else None)
        machine.objects.classes[id(node)] = info
    elif machine.driver.sets and frame.function and info.scope is not frame:
        # each call of the function around it makes another class, with the variables of that call
        info = replace(info, scope=frame)
        machine.objects.kept.append(info)
    value = Class(info)
    for decorator in node.decorator_list:
        made = resolve_import(
            machine,
            machine.eval(decorator.func if isinstance(decorator, ast.Call) else decorator, frame),
        )
        if isinstance(made, External):
            info.decorators |= {made.name}
        elif isinstance(made, Function):
            decorate_class(machine, decorator, made, value, frame)
    frame.names[node.name] = value
    if node.bases and b"__init_subclass__" in frame.module.text:
        announce_subclass(machine, node, value, frame)
    if frame.emits:
        machine.emit(Statement, node, frame, construct="class", name=node.name)
    return GO_ON


def announce_subclass(machine: Machine, node: ast.ClassDef, value: Class, frame: Frame) -> None:
    """Run the `__init_subclass__` of a parent for its effects, as for a decorator's."""
    hook = find_member(machine, value.info, "__init_subclass__", value.info)
    if type(hook) is not Function:
        return
    given = {k.arg: machine.eval(k.value, frame) for k in node.keywords if k.arg is not None}
    given.pop("metaclass", None)
    try:
        machine.call(replace(hook, bound=value), [], given, node, frame)
    except Raised:
        pass


def decorate_class(
    machine: Machine, decorator: ast.expr, made: Function, value: Class, frame: Frame
) -> None:
    """Run a class decorator of the checked source for its effects, such as entering the class
    into a registry."""
    try:
        deco = (
            machine.call(made, *eval_arguments(machine, decorator, frame), decorator, frame)
            if isinstance(decorator, ast.Call)
            else made
        )
        machine.call(deco, [value], {}, decorator, frame)
    except Raised:
        pass


def _is_folded(node: ast.expr) -> bool:
    """True for what the compiler makes one constant of, as Dynamo wants an assert's message: "a" +
    "b", ("a", 1)."""
    if isinstance(node, ast.JoinedStr):
        return all(isinstance(part, ast.Constant) for part in node.values)
    if isinstance(node, ast.Tuple):
        return all(_is_folded(part) for part in node.elts)
    if isinstance(node, ast.BinOp):
        formats = (
            isinstance(node.op, ast.Mod)
            and isinstance(node.left, ast.Constant)
            and isinstance(node.left.value, str)
        )
        return not formats and _is_folded(node.left) and _is_folded(node.right)
    if isinstance(node, ast.UnaryOp):
        return _is_folded(node.operand)
    if isinstance(node, ast.Subscript):
        return _is_folded(node.value) and _is_folded(node.slice)
    return isinstance(node, ast.Constant)
