"""Operators of objects of the checked source: `__add__`, `__radd__`, `__neg__`, `__eq__`, ..."""

from __future__ import annotations

import ast

from msgspec.structs import replace

from breakscope.rulekit.values import BOOL, UNKNOWN, Function, Instance, Tensor, Value
from breakscope.static.definitions.classes import external_bases, find_member, is_tensor_class
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.machine import Machine
from breakscope.static.variables.effects.emitting import emit_call
from breakscope.static.variables.tensors.arithmetic import tensor_operator
from breakscope.static.variables.tensors.subclasses import as_tensor, is_of_subclass

_OPERATOR_METHODS = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.MatMult: "matmul",
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.BitXor: "xor",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
}
_UNARY_METHODS = {ast.USub: "__neg__", ast.UAdd: "__pos__", ast.Invert: "__invert__"}
_COMPARE_METHODS = {
    ast.Eq: "__eq__",
    ast.Lt: "__lt__",
    ast.LtE: "__le__",
    ast.Gt: "__gt__",
    ast.GtE: "__ge__",
    ast.NotEq: "__ne__",
}


def object_operator(
    machine: Machine, left: Value, right: Value, op: type, node: ast.AST, frame: Frame
) -> Value:
    """`left op right`, one of which is an object; `node` is an AugAssign for `left op= right`."""
    name = _OPERATOR_METHODS.get(op)
    own = ((left, right, "__i"),) if type(node) is ast.AugAssign else ()
    for owner, other, prefix in (*own, (left, right, "__"), (right, left, "__r")):
        if name and isinstance(owner, Instance):
            method = machine.getattr(owner, f"{prefix}{name}__", node, frame)
            if isinstance(method, Function):
                full = f"object.__{name}__"
                emit_call(machine, full, owner, (left, right), {}, node, frame)
                return machine.call_implicitly(method, [other], node, frame)
    objects = [v for v in (left, right) if type(v) is Instance]
    if not any(is_tensor_class(machine, v.cls.info) for v in objects):
        return UNKNOWN
    is_kept = any(is_of_subclass(machine, v) for v in objects)
    return Tensor(sure=False, kind="subclass" if is_kept else "")


def tensor_with_object(
    machine: Machine, left: Value, right: Value, op: type, node: ast.AST, frame: Frame
) -> Value:
    """An operator between a tensor and an object of a class of the checked source."""
    name = _OPERATOR_METHODS.get(op)
    owner, forms = (left, ("__", "__i")) if type(left) is Instance else (right, ("__r",))
    own = (find_member(machine, owner.cls.info, f"{form}{name}__") for form in forms)
    if not any(own) or any(
        base.startswith("torch.Tensor") for base in external_bases(machine, owner.cls.info)
    ):
        result = tensor_operator(left, right, op)
        return replace(result, kind="subclass") if is_of_subclass(machine, owner) else result
    return object_operator(machine, left, right, op, node, frame)


def unary_of_object(
    machine: Machine, owner: Instance, op: type, node: ast.AST, frame: Frame
) -> Value:
    """`-owner`, `+owner` or `~owner`."""
    name = _UNARY_METHODS[op]
    method = machine.getattr(owner, name, node, frame)
    if not isinstance(method, Function):
        return UNKNOWN
    emit_call(machine, f"object.{name}", owner, (), {}, node, frame)
    return machine.call_implicitly(method, [], node, frame)


def compare_object(
    machine: Machine, owner: Instance, other: Value, op: type, node: ast.AST, frame: Frame
) -> Value:
    """`owner op other` for `==`, `<` and the like."""
    method = machine.getattr(owner, _COMPARE_METHODS[op], node, frame)
    if isinstance(method, Function):
        return machine.call(method, [other], {}, node, frame)
    if not is_tensor_class(machine, owner.cls.info):
        return BOOL
    return Tensor("bool", sure=False, kind=as_tensor(machine, owner).kind)
