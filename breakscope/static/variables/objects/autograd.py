"""`torch.autograd.Function.apply`: the forward function, and the backward one that Dynamo traces
at the same place."""

from __future__ import annotations

import ast

from breakscope.rulekit.values import (
    NONE,
    UNKNOWN,
    Class,
    Const,
    Dict,
    ExternalInstance,
    Function,
    Instance,
    Method,
    Py,
    Sequence,
    Tensor,
    Value,
)
from breakscope.rulekit.walking import kept_with_node, walk
from breakscope.static.definitions.classes import bound_to, external_bases, find_member, mro_of
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.lattice import join
from breakscope.static.machine.machine import Machine
from breakscope.static.variables.effects.emitting import args_certainty, emit_call
from breakscope.static.variables.effects.subgraphs import call_quietly
from breakscope.static.variables.objects.construction import note_made, stand_in

FUNCTION = "torch.autograd.Function"
CONTEXT_CLASS, SAVE = "FunctionCtx", "save_for_backward"
MARKED = "torch.autograd.Function.apply of what is marked, and not returned"
CONSTANT = "an attribute of an autograd.Function"  # as its rule listens to it
DELETED = "torch.autograd.function.FunctionCtx.__delattr__"
CONTEXT = ExternalInstance("torch.autograd.function.FunctionCtx")


def is_function_object(machine: Machine, owner: Instance) -> bool:
    return FUNCTION in external_bases(machine, owner.cls.info)


def is_function_class(machine: Machine, owner: Class) -> bool:
    return any(n.startswith("torch.autograd.") for n in external_bases(machine, owner.info))


def note_constant(
    machine: Machine, owner: Class, member: Value, node: ast.AST, frame: Frame
) -> None:
    """Emit that something else than a function is read of an autograd.Function: Dynamo looks for
    functions there, and leaves all else open."""
    is_plain = member != NONE and isinstance(member, Const | Py | Tensor | Sequence | Dict)
    if frame.emits and is_plain and is_function_class(machine, owner):
        emit_call(machine, CONSTANT, owner, (member,), {}, node, frame)


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
        ctx = new_context(machine, frame)
        first = [ctx] if setup is None else []
        result = machine.call(bound_to(forward, owner), [*first, *args], kwargs, node, frame)
        rest = [kwargs["*"]] if "*" in kwargs else []
        if frame.emits and _may_need_gradient([*args, *rest]):
            if leaves_marked_out(forward.info.node):
                emit_call(machine, MARKED, owner, args, kwargs, node, frame, "likely")
            given = [ctx, Sequence("tuple", list(args)), result]
            call_for_gradient(machine, owner, setup, given, node, frame)
            call_backward(machine, owner, ctx, result, node, frame)
        return result
    return Tensor()


def _may_need_gradient(args: list[Value]) -> bool:
    """A function is applied to a tensor at least, which may be among those that are not known."""
    tensors = [value for value in args if value.is_tensor] or [
        Tensor(sure=False) for value in args if value.is_unknown
    ]
    return any(tensor.requires_grad is not False for tensor in tensors)


@kept_with_node
def leaves_marked_out(forward: ast.AST) -> bool:
    """Is an input marked as changed in place (`ctx.mark_dirty(x)`) that is not returned by its name?"""
    marked: set[str] = set()
    returned: set[str] = set()
    for part in walk(forward):
        if type(part) is ast.Call and getattr(part.func, "attr", "") == "mark_dirty":
            marked |= {given.id for given in part.args if type(given) is ast.Name}
        elif type(part) is ast.Return:
            values = part.value.elts if type(part.value) is ast.Tuple else [part.value]
            returned |= {value.id for value in values if type(value) is ast.Name}
    return not marked <= returned


def new_context(machine: Machine, frame: Frame) -> Value:
    """The object that `forward` keeps for `backward` what it is to use."""
    ctx = Instance(stand_in(machine, CONTEXT_CLASS))
    machine.objects.kept.append(ctx)
    note_made(machine, ctx, frame)
    return ctx


def is_context(machine: Machine, value: Value) -> bool:
    return type(value) is Instance and value.cls is machine.objects.stand_ins.get(CONTEXT_CLASS)


def context_attribute(
    machine: Machine, ctx: Instance, name: str, node: ast.AST, frame: Frame
) -> Value:
    """What nothing was seen to keep on the context."""
    if name == SAVE:
        return Method(ctx, name)
    return machine.getattr(CONTEXT, name, node, frame)


def save_for_backward(ctx: Instance, args: list[Value]) -> Value:
    saved, before = Sequence("tuple", list(args)), ctx.attributes.get("saved_tensors")
    ctx.attributes["saved_tensors"] = saved if before is None else join(before, saved)
    return NONE


def call_backward(
    machine: Machine, owner: Class, ctx: Value, result: Value, node: ast.AST, frame: Frame
) -> None:
    """What the gradient of each result goes into."""
    outputs = (
        result.items if isinstance(result, Sequence) and result.items is not None else [result]
    )
    gradients = [Tensor("float", sure=False) if o.is_tensor else UNKNOWN for o in outputs]
    backward = find_member(machine, owner.info, "backward")
    # `forward` is a subgraph of its own: what it made is outside of this one
    kept = [v for v in ctx.attributes.values() if isinstance(v, Sequence | Dict)]
    machine.region.outside_subgraph.update(map(id, kept))
    call_for_gradient(machine, owner, backward, [ctx, *gradients], node, frame)


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
