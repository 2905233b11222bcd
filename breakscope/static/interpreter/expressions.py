"""Evaluates expressions: one function for each class of `ast` node."""

from __future__ import annotations

import ast
import re

from breakscope import limits
from breakscope.rulekit.events import Format
from breakscope.rulekit.values import (
    BOOL,
    FALSE,
    NONE,
    UNKNOWN,
    Const,
    Dict,
    ExternalInstance,
    Function,
    Instance,
    Py,
    Scalar,
    Sequence,
    Tensor,
    Value,
    holds_tensor,
    options,
)
from breakscope.static.definitions.binding import defaults_of
from breakscope.static.definitions.names import lookup_name
from breakscope.static.interpreter.conditions import test_condition
from breakscope.static.interpreter.narrowing import narrow_by_attribute, take_for_mask
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.lattice import join_elements
from breakscope.static.machine.machine import Machine
from breakscope.static.project.modules import Import
from breakscope.static.variables.base import BITWISE
from breakscope.static.variables.dicts import put_key
from breakscope.static.variables.effects.emitting import (
    emit_drawn,
    emit_read,
    is_by_annotation,
    is_some_tensor,
    sureness,
)
from breakscope.static.variables.effects.kept_iterators import note_kept
from breakscope.static.variables.library.builtin_iteration import different_items
from breakscope.static.variables.library.folding import MISFITS, WIDE_FORMAT, constant
from breakscope.static.variables.library.followed.driven_items import driven_items
from breakscope.static.variables.numpy import is_numpy_number, read_index, read_numpy_number
from breakscope.static.variables.objects.attributes import instance_attribute
from breakscope.static.variables.operators.binary import binary_operation
from breakscope.static.variables.operators.comparisons import compare_values
from breakscope.static.variables.tensors.indexing import index_parts, masked_index

BOOL_OF_CONFIG = Py("bool", "config")


def eval_constant(machine: Machine, node: ast.Constant, frame: Frame) -> Value:
    value = getattr(node, "abstract", None)
    if value is None:
        value = node.abstract = constant(node.value)
    return value


def eval_name(machine: Machine, node: ast.Name, frame: Frame) -> Value:
    # what `lookup` does first, without the call: most names are local
    value = frame.names.get(node.id)
    if value is not None and not frame.globals_ and type(value) is not Import:
        return value
    return lookup_name(machine, node.id, frame, node)


def eval_attribute(machine: Machine, node: ast.Attribute, frame: Frame) -> Value:
    part = node.value
    owner = machine.eval(part, frame)
    if type(owner) is Instance:
        return instance_attribute(machine, owner, node.attr, node, frame)
    owner = narrow_by_attribute(node, owner, frame)
    return machine.getattr(owner, node.attr, node, frame)


def eval_named_expr(machine: Machine, node: ast.NamedExpr, frame: Frame) -> Value:
    value = machine.eval(node.value, frame)
    frame.names[node.target.id] = value
    return value


def eval_lambda(machine: Machine, node: ast.Lambda, frame: Frame) -> Value:
    info = machine.function_info(frame.module, node, frame.prefix)
    if frame.function:
        info.defaults = None
    defaults_of(machine, info, frame)
    return Function(info, scope=frame if frame.function or frame.scope else None)


def eval_starred(machine: Machine, node: ast.Starred, frame: Frame) -> Value:
    return machine.eval(node.value, frame)


def eval_await(machine: Machine, node: ast.Await, frame: Frame) -> Value:
    value = machine.eval(node.value, frame)
    return UNKNOWN if frame.emits else value


def eval_yield(machine: Machine, node: ast.Yield, frame: Frame) -> Value:
    value = machine.eval(node.value, frame) if node.value else UNKNOWN
    bodies = machine.driver.bodies
    if bodies and bodies[-1][0] is frame.function:
        bodies.pop()[1](value)
    else:
        frame.yields.append(value)
    return UNKNOWN


def eval_yield_from(machine: Machine, node: ast.YieldFrom, frame: Frame) -> Value:
    value = machine.eval(node.value, frame)
    is_driven = machine.driver.follows_turns(frame)
    items = driven_items(machine, value, node.value, frame) if is_driven else None
    if items is not None:
        frame.yields.extend(items)
    else:
        frame.yields.append(machine.iterate(value, node.value, frame) or UNKNOWN)
    return UNKNOWN


def eval_display(machine: Machine, node, frame: Frame, type_: str) -> Value:
    items, known = [], True
    for part in node.elts:
        value = machine.eval(part, frame)
        if isinstance(part, ast.Starred):
            note_kept(machine, [value], part.value, frame, "star")
            if isinstance(value, Sequence) and value.items is not None:
                items.extend(value.items)
            else:
                items.append(machine.iterate(value, part, frame) or UNKNOWN)
                known = False
        else:
            items.append(value)
    known = known and len(items) <= max(len(node.elts), limits.MOST_FOLDED_ITEMS)
    if not known:
        return Sequence(type_, None, join_elements(items))
    return Sequence(type_, different_items(items) if type_ == "set" else items)


def eval_dict(machine: Machine, node: ast.Dict, frame: Frame) -> Value:
    result = Dict({}, UNKNOWN)
    for key, value_node in zip(node.keys, node.values):
        value = machine.eval(value_node, frame)
        if key is None:
            for option in options(value):
                if isinstance(option, Dict):
                    result.items.update(option.items)
                    result.open = result.open or option.open
                else:
                    result.open = True
            continue
        named = machine.eval(key, frame)
        if type(named) is Py and named.source == "tensor":
            machine.emit(Format, node, frame, value=named, construct="key")
        put_key(result, named, value)
    return result


def eval_joined_str(machine: Machine, node: ast.JoinedStr, frame: Frame) -> Value:
    text, parts, is_later = "", [], False
    for part in node.values:
        if isinstance(part, ast.Constant):
            text = _extended(text, part.value)
            continue
        value = machine.eval(part.value, frame)
        parts.append(UNKNOWN if is_by_annotation(value) else value)
        if holds_tensor(value):
            spec = part.format_spec is not None and bool(part.format_spec.values)
            if spec and value.is_tensor:
                emit_read(machine, value, "format", node, frame, part.value)
            else:
                machine.emit(Format, node, frame, sureness(value), value=value, construct="fstring")
        is_later = is_later or machine.region.is_drawn(value)
        is_later = is_later or (part.conversion == -1 and machine.is_opaque(parts[-1]))
        text = _extended(text, _formatted(value, part))
    if text is not None:
        return constant(text)
    if any(holds_tensor(p) for p in parts):
        return Py("str", "tensor")
    if is_later:
        return Py("str", "object")
    return Py("str", "shape" if any(p.is_shape for p in parts) else "")


def _formatted(value: Value, part: ast.FormattedValue) -> str | None:
    """How a constant is written; None where that is not known."""
    spec = part.format_spec.values if part.format_spec is not None else []
    is_plain = all(isinstance(piece, ast.Constant) for piece in spec)
    if not value.is_const or part.conversion != -1 or not is_plain:
        return None
    how = "".join(piece.value for piece in spec)
    if re.search(WIDE_FORMAT, how):
        return None
    try:
        return format(value.value, how)
    except MISFITS:
        return None


def _extended(text: str | None, part: str | None) -> str | None:
    """A text and its next part; None when it is not known, or too long to be put together."""
    known = (
        text is not None
        and part is not None
        and len(text) + len(part) <= limits.LONGEST_FOLDED_TEXT
    )
    return text + part if known else None


def eval_subscript(machine: Machine, node: ast.Subscript, frame: Frame) -> Value:
    container = machine.eval(node.value, frame)
    index = machine.eval(node.slice, frame)
    if frame.emits and not index.is_const:
        emit_drawn(machine, index_parts(index), node, frame)
        index = masked_index(machine, node.slice, index)
        if is_numpy_number(index) and type(container) is Sequence:
            read_index(machine, index, node, frame)
    return machine.getitem(container, index, node, frame)


def eval_slice(machine: Machine, node: ast.Slice, frame: Frame) -> Value:
    bounds = []
    for bound in (node.lower, node.upper, node.step):
        if bound is None:
            bounds.append(NONE)
            continue
        value = machine.eval(bound, frame)
        if is_numpy_number(value):
            read_numpy_number(machine, "slice", value, bound, frame)
        elif is_some_tensor(value):
            emit_read(machine, value, "slice", bound, frame)
            value = Scalar() if frame.emits and value.is_tensor else value
        emit_drawn(machine, (value,), bound, frame, "slice by draw")
        bounds.append(value)
    return ExternalInstance("slice", tuple(bounds))


def eval_bin_op(machine: Machine, node: ast.BinOp, frame: Frame) -> Value:
    left, right = machine.eval(node.left, frame), machine.eval(node.right, frame)
    if left.is_unknown and right.is_unknown and is_difference_of_slices(node):
        return Tensor(sure=False)
    if type(node.op) in BITWISE and type(left) is type(right) is Tensor:
        if "bool" in (left.dtype, right.dtype):
            take_for_mask(node.left, frame)
            take_for_mask(node.right, frame)
    return binary_operation(machine, left, right, type(node.op), node, frame)


def is_difference_of_slices(node: ast.BinOp) -> bool:
    """`a[1:] - a[:-1]`: lists and text have slices, but no difference."""
    return isinstance(node.op, ast.Sub) and all(
        isinstance(side, ast.Subscript) and isinstance(side.slice, ast.Slice)
        for side in (node.left, node.right)
    )


def eval_unary_op(machine: Machine, node: ast.UnaryOp, frame: Frame) -> Value:
    if isinstance(node.op, ast.Not):
        truth = test_condition(machine, node, frame, "not")
        return BOOL if truth is None else Const(truth)
    if type(node.op) is ast.Invert:
        take_for_mask(node.operand, frame)
    value = machine.eval(node.operand, frame)
    return machine.behaviour(value).unary(machine, value, type(node.op), node, frame)


def eval_compare(machine: Machine, node: ast.Compare, frame: Frame) -> Value:
    left, result = machine.eval(node.left, frame), None
    for i, (op, right_node) in enumerate(zip(node.ops, node.comparators)):
        right = machine.eval(right_node, frame)
        if type(op) in (ast.In, ast.NotIn):
            note_kept(machine, [right], right_node, frame, "in")
        if i and machine.truth(result, "chained", node, frame) is False:
            return FALSE
        result = compare_values(machine, left, right, type(op), right_node, node, frame)
        if not i and is_left_to_others(node, left, right):
            result = BOOL_OF_CONFIG
        left = right
    return result


def is_left_to_others(node: ast.Compare, left: Value, right: Value) -> bool:
    """True for `self.mode == "train"` of what the constructor leaves None: who made the object sets it
    before the call, else nobody would ask."""
    return (
        isinstance(node.left, ast.Attribute)
        and isinstance(node.ops[0], ast.Eq | ast.NotEq)
        and left.is_none
        and right.is_const
        and not right.is_none
    )
