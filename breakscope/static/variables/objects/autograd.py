"""`torch.autograd.Function.apply`: the forward function, and the backward one that Dynamo traces
at the same place."""

from __future__ import annotations

import ast

from breakscope.rulekit.values import (
    UNKNOWN,
    Class,
    ExternalInstance,
    Function,
    Instance,
    Sequence,
    Tensor,
    Value,
)
from breakscope.static.definitions.classes import (
    bound_to,
    external_bases,
    find_member,
    mro_of,
)
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.machine import Machine
from breakscope.static.variables.effects.emitting import args_certainty, emit_call
from breakscope.static.variables.effects.subgraphs import call_quietly

FUNCTION = "torch.autograd.Function"
CONTEXT = ExternalInstance("torch.autograd.function.FunctionCtx")


def is_function_object(machine: Machine, owner: Instance) -> bool:
    return FUNCTION in external_bases(machine, owner.cls.info)


def call_apply_of_object(machine: Machine, owner: Instance, args, kwargs, node, frame) -> Value:
    """`Function().apply(x)`: the object's class is applied. A bound `apply` that was kept is traced."""
    is_read_here = getattr(getattr(node, "func", None), "attr", "") == "apply"
    if is_read_here and id(owner) not in machine.objects.made_inside:
        emit_call(machine, "autograd function object.apply", owner, args, kwargs, node, frame)
    return call_autograd_function(machine, owner.cls, args, kwargs, node, frame)


def call_autograd_function(machine: Machine, owner: Class, args, kwargs, node, frame) -> Value:
    forward = find_member(machine, owner.info, "forward")
    emit_call(
        machine,
        "torch.autograd.Function.apply",
        owner,
        args,
        kwargs,
        node,
        frame,
        args_certainty(args),
        classes=tuple(mro_of(machine, owner.info)),
    )
    if isinstance(forward, Function):
        setup = find_member(machine, owner.info, "setup_context")
        ctx = [CONTEXT] if setup is None else []
        result = machine.call(bound_to(forward, owner), [*ctx, *args], kwargs, node, frame)
        if frame.emits and any(a.is_tensor and a.requires_grad is not False for a in args):
            given = [CONTEXT, Sequence("tuple", list(args)), result]
            call_for_gradient(machine, owner, setup, given, node, frame)
            call_backward(machine, owner, result, node, frame)
        return result
    return Tensor()


def call_backward(
    machine: Machine, owner: Class, result: Value, node: ast.AST, frame: Frame
) -> None:
    """What the gradient of each result goes into."""
    outputs = (
        result.items if isinstance(result, Sequence) and result.items is not None else [result]
    )
    gradients = [Tensor("float", sure=False) if o.is_tensor else UNKNOWN for o in outputs]
    backward = find_member(machine, owner.info, "backward")
    call_for_gradient(machine, owner, backward, [CONTEXT, *gradients], node, frame)


def call_for_gradient(
    machine: Machine, owner: Class, method: Value | None, args, node: ast.AST, frame: Frame
) -> None:
    """Dynamo traces `setup_context` and `backward` where `apply` stands, if an input may need a
    gradient."""
    if not isinstance(method, Function):
        return
    certainty, within = frame.certainty, frame.within
    frame.certainty = "likely" if certainty == "certain" else certainty
    frame.within = "backward"
    call_quietly(machine, bound_to(method, owner), args, node, frame)
    frame.certainty, frame.within = certainty, within
