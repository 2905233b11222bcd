"""`torch.autograd.Function.apply`: the forward function, and the backward one that Dynamo traces
at the same place."""

from __future__ import annotations

import ast

from breakscope.rulekit.values import (
    UNKNOWN,
    Class,
    ExternalInstance,
    Function,
    Sequence,
    Tensor,
    Value,
)
from breakscope.static.definitions.classes import bound_to, find_member, mro_of
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.machine import Machine
from breakscope.static.variables.effects.emitting import args_certainty, emit_call
from breakscope.static.variables.effects.subgraphs import call_quietly


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
        ctx = (
            [ExternalInstance("torch.autograd.function.FunctionCtx")]
            if find_member(machine, owner.info, "setup_context") is None
            else []
        )
        result = machine.call(bound_to(forward, owner), [*ctx, *args], kwargs, node, frame)
        if frame.emits and any(a.is_tensor and a.requires_grad is not False for a in args):
            call_backward(machine, owner, result, node, frame)
        return result
    return Tensor()


def call_backward(
    machine: Machine, owner: Class, result: Value, node: ast.AST, frame: Frame
) -> None:
    """Dynamo traces `backward` where `apply` stands, if an input may need a gradient."""
    backward = find_member(machine, owner.info, "backward")
    if not isinstance(backward, Function):
        return
    outputs = (
        result.items if isinstance(result, Sequence) and result.items is not None else [result]
    )
    gradients = [Tensor("float", sure=False) if o.is_tensor else UNKNOWN for o in outputs]
    certainty, within = frame.certainty, frame.within
    frame.certainty, frame.within = (
        "likely" if certainty == "certain" else certainty,
        "backward",
    )
    context = ExternalInstance("torch.autograd.function.FunctionCtx")
    call_quietly(machine, bound_to(backward, owner), [context, *gradients], node, frame)
    frame.certainty, frame.within = certainty, within
