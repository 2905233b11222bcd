"""`owner.name` on objects of the checked source: what was stored, members of the class,
properties, descriptors, `__getattr__`."""

from __future__ import annotations

import ast
import builtins
import contextlib
import re

from breakscope.rulekit.values import (
    NONE,
    UNKNOWN,
    Const,
    Dict,
    ExternalInstance,
    Function,
    Instance,
    Method,
    Py,
    Value,
)
from breakscope.static.definitions.annotations import value_of_annotation
from breakscope.static.definitions.classes import (
    bound_to,
    external_bases,
    find_member,
    is_module,
    is_tensor_class,
    mro_of,
)
from breakscope.static.definitions.fields import (
    class_annotations,
    constructor_annotations,
    field_names,
)
from breakscope.static.definitions.homes import note_nested
from breakscope.static.definitions.lightning import method_of_lightning
from breakscope.static.definitions.names import resolve_import
from breakscope.static.machine.frames import Frame, Raised
from breakscope.static.machine.lattice import join
from breakscope.static.machine.machine import Machine
from breakscope.static.project.modules import Import
from breakscope.static.variables.effects.emitting import emit_call
from breakscope.static.variables.library.concurrency.threads import OF_THREADS, THREAD
from breakscope.static.variables.modules.containers import (
    HELD,
    OPEN,
    contents_of,
    openly_put,
)
from breakscope.static.variables.modules.hidden_properties import (
    is_part,
    note_missing,
    run_hidden_property,
)
from breakscope.static.variables.modules.layers import LAYER_PARTS, part_of_layer
from breakscope.static.variables.modules.parameters import sized_parameter
from breakscope.static.variables.modules.recurrent import (
    RECURRENT,
    note_recurrent_argument,
    note_recurrent_read,
)
from breakscope.static.variables.numpy import note_texts_read
from breakscope.static.variables.objects.assigned import assigned_tensor
from breakscope.static.variables.objects.autograd import context_attribute, is_context
from breakscope.static.variables.objects.decorated import note_decorated
from breakscope.static.variables.objects.own_items import read_left_out
from breakscope.static.variables.tensors.subclasses import as_tensor

LAYER_PARAMETERS = frozenset({"weight", "bias"})
# the layers of torch that have a weight, and among them those that cannot be made without one
LAYER = re.compile(r"torch\.nn\.(?:\w+\.)*(?:Lazy)?(?:Linear|Bilinear|Conv|Embedding|\w*Norm)")
ALWAYS_WEIGHED = re.compile(r"Linear|Bilinear|Conv|Embedding")
# the layers that others of torch's make as a part of theirs
FILLING = frozenset({"append", "extend", "insert", "update", "setdefault"})
READING = frozenset({"items", "keys", "values", "pop", "get"})


def truth_of_instance(
    machine: Machine, value: Instance, node: ast.expr, frame: Frame, called: bool = False
) -> bool | None:
    """What `if value` finds, or `bool(value)`, which is `called`."""
    for name in ("__bool__", "__len__"):
        method = machine.getattr(value, name, node, frame)
        if isinstance(method, Function):
            if called:
                answer = machine.call(method, [], {}, node, frame)
            else:
                answer = machine.call_implicitly(method, [], node, frame)
            return bool(answer.value) if answer.is_const else None
    return True


def instance_attribute(
    machine: Machine, owner: Instance, name: str, node: ast.AST, frame: Frame
) -> Value:
    if frame.emits:
        machine.region.note_attribute_read((id(owner), name), node, frame)
        if type(node) is ast.Attribute and type(node.value) is ast.Name:
            note_recurrent_argument(machine, owner, node.value, frame)
            narrowed = frame.names.get(f"{node.value.id}.{name}")
            if narrowed is not None:
                if type(narrowed) is ExternalInstance and narrowed.name in RECURRENT:
                    note_recurrent_read(machine, narrowed, node, frame)
                return narrowed
    value = owner.attributes.get(name)
    if value is not None:
        if frame.emits:
            note_recurrent_read(machine, value, node, frame)
            note_texts_read(machine, value, node, frame)
            run_own_getter(machine, owner, value, name, node, frame)
            run_hidden_property(machine, owner, value, name, node, frame)
            if type(value) is Const and _is_changed(machine, owner, name, value):
                if type(value.value) is bool:
                    return Py("bool", "config", value.value)
                return Py(type(value.value).__name__)
        return resolve_import(machine, value) if type(value) is Import else value
    info = owner.cls.info
    if (logging := method_of_lightning(machine, owner, name)) is not None:
        return logging
    member = find_member(machine, info, name)
    if member is not None:
        if frame.emits and not isinstance(member, Function):
            for cls in mro_of(machine, info):
                machine.region.note_read((id(cls), name), node, frame)
        return member_of_instance(machine, owner, member, node, frame)
    if name == "__dict__" or (name == "_modules" and not frame.emits):
        machine.touch(owner)  # whoever changes the dict changes the object
        machine.objects.attribute_dicts[id(owner.attributes)] = owner
        return Dict(owner.attributes, open=True)
    if name == "_modules":
        modules = {
            key: value for key, value in owner.attributes.items() if is_module(machine, value)
        }
        return Dict(modules, open=not modules)
    if name == "__class__":
        return owner.cls
    if name == "training" and is_module(machine, owner):
        return Py("bool", "config")
    if HELD in owner.attributes and (
        name in FILLING or (name in READING and contents_of(machine, owner) is not owner)
    ):
        return Method(owner.attributes[HELD], name)
    if is_module(machine, owner) and name in machine.library.module_methods:
        return Method(owner, name)
    if OPEN in owner.attributes and (stored := openly_put(owner, name)) is not None:
        return stored
    if id(owner) in machine.objects.left_out:
        read_left_out(machine, owner, name, node, frame)
    note_missing(machine, owner, name, node, frame)
    return fallback_attribute(machine, owner, name, node, frame)


def run_own_getter(
    machine: Machine, owner: Instance, value: Value, name: str, node: ast.AST, frame: Frame
) -> None:
    """A module's parts are no plain attributes: a `__getattr__` of its class runs for each of them."""
    if not is_part(machine, value):
        return
    getter = find_member(machine, owner.cls.info, "__getattr__")
    if type(getter) is Function:
        with contextlib.suppress(Raised):
            machine.call_implicitly(bound_to(getter, owner), [Const(name)], node, frame)


def _is_changed(machine: Machine, owner: Instance, name: str, value: Const) -> bool:
    """True for a number that the constructor sets and another line counts, and for a bool that
    others switch, never back: it is that in the first call only. What is switched both ways is a
    state that ends where it began."""
    kind = type(value.value)
    wanted = (name, value.value if kind is bool else None)
    return (
        kind in (int, float, bool)
        and id(owner) not in machine.objects.made_inside
        and any(
            wanted in cls.module.changing_attributes() for cls in mro_of(machine, owner.cls.info)
        )
    )


def member_of_instance(
    machine: Machine, owner: Instance, member: Value, node: ast.AST, frame: Frame
) -> Value:
    if isinstance(member, Function):
        bound = bound_to(member, owner)
        if "property" in member.info.marks:
            if "cached_property" in member.info.marks:
                return cached_property(machine, owner, bound, node, frame)
            note_decorated(machine, bound, node, frame)
            return machine.call_implicitly(bound, [], node, frame)
        return bound
    if type(member) is ExternalInstance and member.name == "functools.partialmethod":
        return partial_method(machine, owner, member, node, frame)
    if isinstance(member, Instance):  # a descriptor
        getter = find_member(machine, member.cls.info, "__get__")
        if getter is not None:
            emit_call(machine, "descriptor.__get__", member, (), {}, node, frame)
            return machine.call_implicitly(
                bound_to(getter, member), [owner, owner.cls], node, frame
            )
    return member


def partial_method(
    machine: Machine, owner: Instance, member: ExternalInstance, node: ast.AST, frame: Frame
) -> Value:
    """A `functools.partialmethod` of the class, bound."""
    emit_call(machine, "functools.partialmethod.__get__", owner, (), {}, node, frame)
    target = member.args[0] if member.args else UNKNOWN
    if not isinstance(target, Function):
        return UNKNOWN
    return Function(target.info, owner, target.scope, member.args[1:], member.kwargs)


def cached_property(
    machine: Machine, owner: Instance, bound: Function, node: ast.AST, frame: Frame
) -> Value:
    """A read of a cached property, which computes it the first time; outside of regions its
    value stays."""
    name = "functools.cached_property.__get__"
    emit_call(machine, name, owner, (Const(bound.info.name),), {}, node, frame, "likely")
    value = machine.call_implicitly(bound, [], node, frame)
    if not frame.emits:
        machine.touch(owner)
        owner.attributes[bound.info.name] = value
    return value


def fallback_attribute(
    machine: Machine, owner: Instance, name: str, node: ast.AST, frame: Frame
) -> Value:
    """An attribute that nothing was seen to set: its annotation, or that of the constructor's
    parameter, the tensor that a method of the class assigns, else `__getattr__`, else unknown. A class that
    derives from a layer of torch's has that layer's parameters."""
    if (
        name in LAYER_PARAMETERS
        and (made := _parameter_of_base(machine, owner, name, frame)) is not None
    ):
        return made
    if (part := _part_of_base(machine, owner, name)) is not None:
        return part
    if name == "state" and "torch.optim.Optimizer" in external_bases(machine, owner.cls.info):
        return _first_state(machine, owner)
    for cls in mro_of(machine, owner.cls.info):
        annotation = class_annotations(cls).get(name) or constructor_annotations(cls).get(name)
        if annotation is not None:
            return value_of_annotation(machine, annotation, Frame(cls.module, scope=cls.scope))
    if machine.objects.is_annotated(owner):
        assigned = assigned_tensor(machine, owner, name)
        if not assigned.is_unknown:
            return assigned
    if name in machine.library.tensor_names and is_tensor_class(machine, owner.cls.info):
        return machine.getattr(as_tensor(machine, owner), name, node, frame)
    if field_names(machine, owner) and name in ("_replace", "_asdict"):
        return Method(owner, name)
    if name == "apply" and "torch.autograd.Function" in external_bases(machine, owner.cls.info):
        return Method(owner, name)
    if (inherited := method_of_training(machine, owner, name)) is not None:
        return inherited
    if name in OF_THREADS and THREAD in external_bases(machine, owner.cls.info):
        return Method(owner, name)
    if is_context(machine, owner):
        return context_attribute(machine, owner, name, node, frame)
    getter = find_member(machine, owner.cls.info, "__getattr__")
    bases = (getattr(builtins, base, None) for base in external_bases(machine, owner.cls.info))
    if getter is None or any(hasattr(base, name) for base in bases):
        return UNKNOWN
    return missing_attribute(machine, owner, getter, name, node, frame)


def _parameter_of_base(machine: Machine, owner: Instance, name: str, frame: Frame) -> Value | None:
    """The parameter of the layer of torch's that the object's class derives from: which may be None but for
    the weight of layers that always have one."""
    bases = [base for base in external_bases(machine, owner.cls.info) if LAYER.match(base)]
    if not bases:
        return None
    made = sized_parameter(owner, name, False, frame)  # or a subclass that somebody puts there
    is_there = name == "weight" and ALWAYS_WEIGHED.search(bases[0])
    return made if is_there else join(made, NONE)


def _part_of_base(machine: Machine, owner: Instance, name: str) -> Value | None:
    """The layer that the constructor of the layer of torch's makes which the object's class derives from."""
    bases = external_bases(machine, owner.cls.info) if name in LAYER_PARTS else ()
    return next((part for base in bases if (part := part_of_layer(base, name))), None)


def method_of_training(machine: Machine, owner: Instance, name: str) -> Method | None:
    """A method that an object has of the optimizer or scheduler of torch's which its class derives from."""
    for base in external_bases(machine, owner.cls.info):
        if base.startswith("torch.optim.") and machine.wanted(f"{base}.{name}"):
            return Method(ExternalInstance(base), name)
    return None


def _first_state(machine: Machine, owner: Instance) -> Dict:
    """What an optimizer of the user's keeps for each parameter: nothing before its first step."""
    made = owner.attributes["state"] = Dict({}, Dict({}, open=True), True, "self.state")
    note_nested(machine, made, made.home)
    return made


def missing_attribute(
    machine: Machine, owner: Instance, getter: Value, name: str, node: ast.AST, frame: Frame
) -> Value:
    """What the class's `__getattr__` gives for an attribute that nothing was seen to set."""
    emit_call(
        machine, "object.__getattr__", owner, (Const(name), getter), {}, node, frame, "likely"
    )
    if type(getter) is not Function or name.startswith("__"):
        return UNKNOWN
    try:
        return machine.call_implicitly(bound_to(getter, owner), [Const(name)], node, frame)
    except Raised:
        return UNKNOWN  # some code that was not seen sets it
