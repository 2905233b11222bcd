"""Classes of the checked source, and their objects."""

from __future__ import annotations

import ast

from breakscope.rulekit.events import Enter
from breakscope.rulekit.values import (
    NONE,
    UNKNOWN,
    Class,
    Const,
    External,
    Function,
    Instance,
    Method,
    Py,
    Sequence,
    Union,
    Value,
    int_of,
    options,
)
from breakscope.static.definitions.classes import (
    MODULE_BASES,
    bound_to,
    external_bases,
    find_member,
    is_module,
    is_module_class,
    is_tensor_class,
    members_of,
    mro_of,
    skipped_base,
)
from breakscope.static.definitions.fields import field_names, fields_of, has_generated_init
from breakscope.static.machine.compiled_values import of_compiled
from breakscope.static.machine.frames import Frame, Raised
from breakscope.static.machine.lattice import join_all
from breakscope.static.machine.library import CONTAINER_TYPES, PYTHON_TYPES
from breakscope.static.machine.machine import Machine
from breakscope.static.machine.versions import version_made_by
from breakscope.static.variables.base import Variable
from breakscope.static.variables.effects.emitting import emit_call, note_assert
from breakscope.static.variables.library.concurrency.threads import (
    OF_THREADS,
    THREAD,
    call_thread_method,
)
from breakscope.static.variables.modules.containers import HELD, LAYER, contents_of
from breakscope.static.variables.modules.hooks import run_hooks, run_pre_hooks
from breakscope.static.variables.nn_module import call_module_method
from breakscope.static.variables.objects.attribute_stores import store_on_class, store_on_instance
from breakscope.static.variables.objects.attributes import instance_attribute, truth_of_instance
from breakscope.static.variables.objects.autograd import (
    SAVE,
    call_apply_of_object,
    call_autograd_function,
    is_context,
    is_function_class,
    is_function_object,
    note_constant,
    save_for_backward,
)
from breakscope.static.variables.objects.construction import instantiate
from breakscope.static.variables.objects.decorated import note_decorated, note_defaults
from breakscope.static.variables.objects.operators import (
    compare_object,
    object_operator,
    unary_of_object,
)
from breakscope.static.variables.objects.own_items import settle_left_out
from breakscope.static.variables.tensors.subclasses import as_tensor

NAMED_TUPLE = "typing.NamedTuple"
ALIAS = "types.GenericAlias()"


class ClassVariable(Variable):
    """A class of the checked source."""

    def call(self, machine: Machine, callee, args, kwargs, node, frame) -> Value:
        if callee.is_alias:
            emit_call(machine, ALIAS, callee, args, kwargs, node, frame)
        if len(args) == 1 and not frame.emits and args[0].is_const and is_enum(machine, callee):
            return member_of_value(machine, callee, args[0], node, frame)
        if not frame.emits and (known := version_made_by(callee.info, args)) is not None:
            return known
        return instantiate(machine, callee, args, kwargs, node, frame)

    def call_method(self, machine: Machine, owner, name, args, kwargs, node, frame) -> Value:
        if name == "apply":
            return call_autograd_function(machine, owner, args, kwargs, node, frame)
        if name == "_make" and len(args) == 1 and isinstance(args[0], Sequence):
            given = args[0].items
            return UNKNOWN if given is None else instantiate(machine, owner, given, {}, node, frame)
        return UNKNOWN

    def getattr(self, machine: Machine, owner, name, node, frame) -> Value:
        member = find_member(machine, owner.info, name)
        if frame.emits:
            machine.region.note_read((id(owner.info), name), node, frame)
        owner = Class(owner.info) if owner.is_alias else owner
        if member is None:
            if name == "apply" and is_function_class(machine, owner):
                return Method(owner, "apply")
            if name == "_make" and NAMED_TUPLE in external_bases(machine, owner.info):
                return Method(owner, name)
            return Const(owner.info.name) if name in ("__name__", "__qualname__") else UNKNOWN
        if is_enum(machine, owner) and not isinstance(member, Function):
            if not frame.emits:
                machine.driver.members[owner.info.name, name] = member
                machine.driver.enums[owner.info.name] = owner
            return Py(f"enum {owner.info.name}.{name}")
        note_constant(machine, owner, member, node, frame)
        return bound_to(member, owner)

    def getitem(self, machine: Machine, container, index, store, node, frame) -> Value:
        if index.is_const and isinstance(index.value, str) and is_enum(machine, container):
            return machine.getattr(container, index.value, node, frame)
        is_generic = "typing.Generic" in external_bases(machine, container.info)
        return Class(container.info, is_alias=True) if is_generic else UNKNOWN

    def setattr(self, machine: Machine, owner, name, value, old, target, node, frame) -> None:
        store_on_class(machine, target, owner, name, value, frame, node, old)

    def identical(self, left, right) -> bool | None:
        if isinstance(right, Class):
            return left.info is right.info
        return False if isinstance(right, External) else None

    def has_type(self, value, name) -> bool | None:
        return False if name in PYTHON_TYPES or name in CONTAINER_TYPES else None

    def may_show_tensor(self, machine: Machine, value, depth) -> bool:
        return is_module_class(machine, value.info)

    def truth(self, machine: Machine, value, construct, facts, node, frame) -> bool | None:
        return True


def call_inherited(machine: Machine, owner, name, args, kwargs, node, frame) -> bool:
    """A method that the object has of a class from a package that Dynamo skips; False where it derives from none."""
    base = skipped_base(machine, owner.cls.info)
    if base and frame.emits:
        callee = External(f"{base}.{name}")
        emit_call(machine, "call of a skipped package", callee, args, kwargs, node, frame)
    return bool(base)


def is_enum(machine: Machine, cls: Class) -> bool:
    return any(machine.library.is_enum(name) for name in external_bases(machine, cls.info))


def member_of_value(machine: Machine, cls: Class, value: Const, node, frame) -> Value:
    """`Mode("train")`: the member of an enum that has the value."""
    for name in members_of(cls.info):
        if find_member(machine, cls.info, name) == value:
            return machine.getattr(cls, name, node, frame)
    return Py("enum")


class InstanceVariable(Variable):
    """An object of a class of the checked source: what its class defines, else what a container
    that it derives from holds."""

    binary_precedence = 2

    def call(self, machine: Machine, callee, args, kwargs, node, frame) -> Value:
        method = machine.getattr(callee, "__call__", node, frame)
        if not isinstance(method, Function) and is_module(machine, callee):
            method = machine.getattr(callee, "forward", node, frame)
        if not isinstance(method, Function | Union):
            method = callee.attributes.get(HELD, UNKNOWN)
            if not isinstance(method, Sequence):
                method = callee.attributes.get(LAYER)
                if method is None:
                    return UNKNOWN
        if callee.compiled_of is not None:
            method, callee = of_compiled(method, callee, "__call__"), callee.original
        if isinstance(method, Function):
            note_decorated(machine, method, node, frame, by_name=False)
            note_defaults(machine, method, len(args), kwargs, node, frame, by_name=False)
        run_pre_hooks(machine, callee, args, node, frame)
        result = machine.call(method, args, kwargs, node, frame)
        run_hooks(machine, callee, args, result, node, frame)
        return result

    def call_method(self, machine: Machine, owner, name, args, kwargs, node, frame) -> Value:
        if name == "apply" and is_function_object(machine, owner):
            return call_apply_of_object(machine, owner, args, kwargs, node, frame)
        if name == SAVE and is_context(machine, owner):
            return save_for_backward(owner, args)
        if name in OF_THREADS and THREAD in external_bases(machine, owner.cls.info):
            return call_thread_method(machine, owner, name, args, kwargs, node, frame) or UNKNOWN
        return call_module_method(machine, owner, name, args, kwargs, node, frame)

    def getattr(self, machine: Machine, owner, name, node, frame) -> Value:
        return instance_attribute(machine, owner, name, node, frame)

    def setattr(self, machine: Machine, owner, name, value, old, target, node, frame) -> None:
        store_on_instance(machine, target, owner, name, value, frame, node, old)

    def getitem(self, machine: Machine, container, index, store, node, frame) -> Value:
        fields = field_names(machine, container)
        at = index.value if index.is_const else None
        if isinstance(at, int) and -len(fields) <= at < len(fields):
            return container.attributes.get(fields[at], UNKNOWN)
        method = machine.getattr(container, "__getitem__", node, frame)
        if isinstance(method, Function):
            found = machine.call(method, [index], {}, node, frame)
            known = all(not option.is_unknown for option in options(found))
            return found if known else field_at(machine, container, index, found, node, frame)
        if call_inherited(machine, container, "__getitem__", [index], {}, node, frame):
            return UNKNOWN
        if (held := contents_of(machine, container)) is not container:
            return machine.getitem(held, index, node, frame, store)
        if isinstance(at, str):
            return container.attributes.get(at, UNKNOWN)
        if is_tensor_class(machine, container.cls.info):
            return machine.getitem(as_tensor(machine, container), index, node, frame, store)
        return super().getitem(machine, container, index, store, node, frame)

    def setitem(
        self, machine: Machine, container, index, value, augmented, target, node, frame
    ) -> None:
        method = machine.getattr(container, "__setitem__", target, frame)
        if isinstance(method, Function):
            machine.call(method, [index, value], {}, target, frame)
            settle_left_out(machine, container, index)
        elif HELD in container.attributes:
            held = container.attributes[HELD]
            machine.setitem(held, index, value, target, node, frame, augmented)
        elif index.is_const and isinstance(index.value, str) and not frame.emits:
            container.attributes[index.value] = value

    def iterate(self, machine: Machine, value, node, frame) -> Value | None:
        fields = field_names(machine, value)
        if fields:
            return join_all([value.attributes.get(f, UNKNOWN) for f in fields])
        method = machine.getattr(value, "__iter__", node, frame)
        if isinstance(method, Function):
            return next_of(machine, machine.call_implicitly(method, [], node, frame), node, frame)
        method = machine.getattr(value, "__getitem__", node, frame)
        if isinstance(method, Function):
            return machine.call(method, [Py("int")], {}, node, frame)
        held = contents_of(machine, value)
        return UNKNOWN if held is value else machine.iterate(held, node, frame)

    def unpacked(self, machine: Machine, value, count, starred, node, frame) -> list[Value] | None:
        fields = field_names(machine, value)
        return [value.attributes.get(f, UNKNOWN) for f in fields] if fields else None

    def truth(self, machine: Machine, value, construct, facts, node, frame) -> bool | None:
        note_assert(machine, value, node, frame, construct, facts)
        return truth_of_instance(machine, value, node, frame)

    def contains(
        self, machine: Machine, container, item, container_node, node, frame
    ) -> bool | None:
        method = machine.getattr(container, "__contains__", node, frame)
        if isinstance(method, Function):
            machine.call_implicitly(method, [item], node, frame)
        return None

    def binary(self, machine: Machine, left, right, op, node, frame) -> Value:
        return object_operator(machine, left, right, op, node, frame)

    def unary(self, machine: Machine, value, op, node, frame) -> Value:
        return unary_of_object(machine, value, op, node, frame)

    def compare(self, machine: Machine, left, right, op, node, frame) -> Value:
        return compare_object(machine, left, right, op, node, frame)

    def is_of_class(self, machine: Machine, value, wanted) -> bool | None:
        if wanted.info in mro_of(machine, value.cls.info):
            return True
        is_open = machine.objects.is_annotated(value) and not machine.driver.sets
        if is_open and value.cls.info in mro_of(machine, wanted.info):
            return None  # a caller may hand over an object of a class that derives from it
        return None if "?" in external_bases(machine, value.cls.info) else False

    def is_of_type(self, machine: Machine, value, name) -> bool | None:
        names = external_bases(machine, value.cls.info)
        if name in names or (name in MODULE_BASES and is_module(machine, value)):
            return True
        verdicts = [machine.library.is_subclass(base, name) for base in names]
        return True if True in verdicts else None if None in verdicts else False

    def class_of(self, value) -> Value:
        return value.cls

    def cast(self, machine: Machine, value, name, node, frame) -> Value:
        if name == "bool":
            truth = truth_of_instance(machine, value, node, frame, called=True)
            return Const(truth) if truth is not None else Py("bool")
        method = machine.getattr(value, f"__{name}__", node, frame)
        is_own = isinstance(method, Function)
        return machine.call(method, [], {}, node, frame) if is_own else Py(name)

    def length(self, machine: Machine, value, node, frame) -> Value:
        method = machine.getattr(value, "__len__", node, frame)
        if isinstance(method, Function):
            return machine.call(method, [], {}, node, frame)
        fields = field_names(machine, value)
        return Const(len(fields)) if fields else Py("int")

    def may_show_tensor(self, machine: Machine, value, depth) -> bool:
        return is_module(machine, value) or bool(external_bases(machine, value.cls.info))

    def is_opaque(self, machine: Machine, value, within) -> bool:
        if not PYTHON_TYPES.isdisjoint(external_bases(machine, value.cls.info)):
            return False
        return not field_names(machine, value) or any(
            machine.is_opaque(part, within) for part in value.attributes.values()
        )

    def enter(self, machine: Machine, manager, node, frame) -> Value:
        method = machine.getattr(manager, "__enter__", node, frame)
        if not isinstance(method, Function):
            return manager
        emit_enter(machine, manager, node, frame)
        return machine.call(method, [], {}, node, frame)

    def leave(self, machine: Machine, manager, node, frame) -> None:
        method = machine.getattr(manager, "__exit__", node, frame)
        if isinstance(method, Function):
            try:
                machine.call(method, [NONE, NONE, NONE], {}, node, frame)
            except Raised:
                pass

    def skips_frame(self, machine: Machine, manager) -> bool:
        return True


def emit_enter(machine: Machine, manager: Instance, node: ast.expr, frame: Frame) -> None:
    """Emit that an object is entered that Python has made, before the region or before a break."""
    name, made = manager.cls.info.name, machine.objects.made_inside.get(id(manager))
    if made is None:
        machine.emit(Enter, node, frame, name=name, value=manager, kwargs={}, exists=True)
    if made is None or not frame.emits:
        return
    steps, at = frame.activation.steps, made.steps
    if made.activation != id(frame.activation):  # by what the function calls
        at = next((i for i, step in enumerate(steps) if step.node is node), -1)
    before = len(steps)
    if at >= 0:
        machine.emit(Enter, node, frame, name=name, value=manager, kwargs={}, behind_break=True)
    for step in steps[before:]:
        step.made_at = at


def next_of(machine: Machine, iterator: Value, node: ast.AST, frame: Frame) -> Value | None:
    """What an iterator that `__iter__` returned yields each time; None when there is certainly
    nothing."""
    if not any(isinstance(option, Instance) for option in options(iterator)):
        return machine.iterate(iterator, node, frame)
    yielded = []
    for option in options(iterator):
        method = UNKNOWN
        if isinstance(option, Instance):
            method = machine.getattr(option, "__next__", node, frame)
        if not isinstance(method, Function):
            yielded.append(UNKNOWN)
            continue
        try:
            yielded.append(machine.call_implicitly(method, [], node, frame))
        except Raised as problem:
            if not problem.is_stop:
                raise
    return join_all(yielded) if yielded else None


def field_at(
    machine: Machine, owner: Instance, index: Value, found: Value, node: ast.AST, frame: Frame
) -> Value:
    """What a dataclass gives for a number that it passes on to its fields in order, those that
    are None left out; `found` where that is not known, or it is no dataclass."""
    place = int_of(index)
    if place is None or place < 0 or not has_generated_init(machine, owner.cls.info):
        return found
    for name, *_ in fields_of(machine, owner.cls.info):
        value = machine.getattr(owner, name, node, frame)
        there = [option for option in options(value) if not option.is_none]
        if there and not place:
            return join_all(there)
        if there and len(there) < len(options(value)):
            return found  # one that may be left out
        place -= bool(there)
    return found
