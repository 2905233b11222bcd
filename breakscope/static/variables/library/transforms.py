"""torch.func: what makes a function of a function, and runs the given one while Dynamo traces."""

from __future__ import annotations

import ast
from functools import partial

from msgspec.structs import replace

from breakscope.rulekit.values import (
    FALSE,
    TRUE,
    UNKNOWN,
    Const,
    ExternalInstance,
    Sequence,
    Tensor,
    Value,
)
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.machine import Machine

TRANSFORMS = frozenset(
    f"torch.func.{name}" for name in ("grad", "grad_and_value", "jacrev", "jacfwd", "hessian")
)


def make_transformed(name: str, machine: Machine, args, kwargs, node, frame) -> Value:
    """`grad(function, argnums, has_aux)`: what is called in place of the function."""
    return ExternalInstance(name, tuple(args), tuple(kwargs.items())) if args else UNKNOWN


def call_transformed(
    machine: Machine, callee: ExternalInstance, args, kwargs, node: ast.AST, frame: Frame
) -> Value:
    """Run the function; what is differentiated gives tensors where one tensor is."""
    value = machine.call(callee.args[0], args, kwargs, node, frame)
    options = dict(zip(("argnums", "has_aux"), callee.args[1:])) | dict(callee.kwargs)
    number, has_aux = options.get("argnums", Const(0)), options.get("has_aux", FALSE)
    if not (number.is_const and isinstance(number.value, int) and has_aux.is_const):
        return UNKNOWN
    at = number.value
    is_tensor = -len(args) <= at < len(args) and type(args[at]) is Tensor
    derivative = Tensor() if is_tensor else UNKNOWN
    if is_tensor and not frame.emits and callee.name.startswith("torch.func.grad"):
        result = _item(value, 0) if has_aux == TRUE else value
        tracked = result.requires_grad if type(result) is Tensor else None
        derivative = replace(args[at], kind="", origin="op", requires_grad=tracked)
    if callee.name == "torch.func.grad_and_value":
        return Sequence("tuple", [derivative, value])
    return Sequence("tuple", [derivative, _item(value, 1)]) if has_aux.value else derivative


def call_vjp(machine: Machine, args, kwargs, node, frame) -> Value:
    """`vjp(function, *primals)`: the function's output, and a function."""
    if not args:
        return UNKNOWN
    more = {"*": kwargs["*"]} if "*" in kwargs else {}  # `vjp(function, *primals)`
    value = machine.call(args[0], list(args[1:]), more, node, frame)
    return UNKNOWN if "has_aux" in kwargs else Sequence("tuple", [value, UNKNOWN])


def call_jvp(machine: Machine, args, kwargs, node, frame) -> Value:
    """`jvp(function, primals, tangents)`: the function's output, and how it changes."""
    primals = args[1] if len(args) > 1 else kwargs.get("primals", UNKNOWN)
    if not args or type(primals) is not Sequence or primals.items is None:
        return UNKNOWN
    value = machine.call(args[0], list(primals.items), {}, node, frame)
    change = Tensor() if type(value) is Tensor else UNKNOWN
    return UNKNOWN if "has_aux" in kwargs else Sequence("tuple", [value, change])


def call_grad(machine: Machine, args, kwargs, node, frame) -> Value:
    """`torch.autograd.grad(outputs, inputs)` around a region: a tensor for each of the inputs, of its sizes."""
    inputs = args[1] if len(args) > 1 else kwargs.get("inputs", UNKNOWN)
    tensors = [inputs] if type(inputs) is Tensor else getattr(inputs, "items", None)
    if frame.emits or not tensors or not all(type(tensor) is Tensor for tensor in tensors):
        return UNKNOWN
    has_graph = kwargs.get("create_graph", FALSE) != FALSE
    made = [replace(t, kind="", origin="op", requires_grad=has_graph) for t in tensors]
    return Sequence("tuple", made)


def _item(value: Value, at: int) -> Value:
    has_items = type(value) is Sequence and value.items is not None and at < len(value.items)
    return value.items[at] if has_items else UNKNOWN


HANDLERS = {
    **{name: partial(make_transformed, name) for name in TRANSFORMS},
    "torch.autograd.grad": call_grad,
    "torch.func.vjp": call_vjp,
    "torch.func.jvp": call_jvp,
}
