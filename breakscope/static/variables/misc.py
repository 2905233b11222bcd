"""`super()`, modules of the checked source, and the compiled callable that a driver calls."""

from __future__ import annotations

from msgspec.structs import replace

from breakscope.rulekit.values import (
    UNKNOWN,
    Const,
    External,
    ExternalInstance,
    Function,
    Instance,
    Method,
    Tensor,
    Value,
)
from breakscope.static.definitions.classes import bound_to, external_bases, find_member, is_module
from breakscope.static.definitions.names import measured_member, module_names, resolve_import
from breakscope.static.definitions.super_properties import first_use
from breakscope.static.machine.driver import as_it_is
from breakscope.static.machine.frames import Raised
from breakscope.static.machine.machine import Machine
from breakscope.static.machine.watch import Watch
from breakscope.static.project.modules import ClassInfo, Namespace
from breakscope.static.variables.base import Variable
from breakscope.static.variables.effects.emitting import emit_call
from breakscope.static.variables.modules.containers import (
    HELD,
    LAYER,
    contents_of,
    hold_contents,
    layer_of,
)
from breakscope.static.variables.nn_module import call_module_method
from breakscope.static.variables.objects.attribute_stores import inherited_attribute_method
from breakscope.static.variables.objects.attributes import (
    FILLING,
    READING,
    method_of_training,
)
from breakscope.static.variables.tensors.subclasses import is_of_subclass, note_parameter


class Super(Value, eq=False):
    """`super()`: attributes are looked up behind `owner` in the classes of `instance`."""

    instance: Value
    owner: ClassInfo


class SuperVariable(Variable):
    """`super()` of an object or a class."""

    def call_method(self, machine: Machine, owner, name, args, kwargs, node, frame) -> Value:
        instance = owner.instance
        if not isinstance(instance, Instance):
            if name == "__new__":
                note_parameter(machine, instance, args, kwargs, node, frame)
            return UNKNOWN
        externals = external_bases(machine, instance.cls.info)
        emit_call(
            machine,
            "super().method",
            instance,
            (Const(name), *map(External, externals)),
            {},
            node,
            frame,
        )
        if name == "__call__" and is_module(machine, instance):
            forward = machine.getattr(instance, "forward", node, frame)
            return machine.call(forward, args, kwargs, node, frame)
        if name in ("__getattr__", "__setattr__"):
            return inherited_attribute_method(machine, instance, name, args, frame)
        if name in machine.library.module_methods and is_module(machine, instance):
            return call_module_method(machine, instance, name, args, kwargs, node, frame)
        base = next((n for n in externals if n in machine.library.builtins), "")
        if name == "__init__":
            hold_contents(machine, instance, args, kwargs, node, frame)
        if HELD in instance.attributes and (
            name in FILLING or (name in READING and contents_of(machine, instance) is not instance)
        ):
            return machine.call(Method(instance.attributes[HELD], name), args, kwargs, node, frame)
        if base and name == "__init__":
            emit_call(machine, f"{base}.__init__", instance, args, kwargs, node, frame)
        if name == "forward" and is_module(machine, instance):
            base = layer_of(machine, externals)
            if HELD in instance.attributes:
                return machine.call(instance.attributes[HELD], args, kwargs, node, frame)
            if base:
                layer = instance.attributes.get(LAYER, ExternalInstance(base))
                result = machine.call(layer, args, kwargs, node, frame)
                weight = instance.attributes.get("weight", UNKNOWN)
                is_of_class = type(result) is Tensor and is_of_subclass(machine, weight)
                return replace(result, kind="subclass") if is_of_class else result
        of_base = method_of_training(machine, instance, name)
        return UNKNOWN if of_base is None else machine.call(of_base, args, kwargs, node, frame)

    def getattr(self, machine: Machine, owner, name, node, frame) -> Value:
        instance = owner.instance
        info = instance.cls.info if isinstance(instance, Instance) else instance.info
        member = find_member(machine, info, name, after=owner.owner)
        if member is None:
            return Method(owner, name)
        if (
            isinstance(member, Function)
            and "property" in member.info.marks
            and isinstance(instance, Instance)
        ):
            if frame.emits and frame.function is not None and machine.wanted("super().property"):
                use = first_use(node, frame.function.node)
                if use is not None:
                    emit_call(machine, "super().property", instance, (Const(name),), {}, use, frame)
            return machine.call_implicitly(bound_to(member, instance), [], node, frame)
        if isinstance(member, Function) and name == "__new__":
            return member
        return bound_to(member, instance)

    def call_hasattr(self, machine: Machine, owner, name, node, frame) -> bool:
        instance = owner.instance
        emit_call(machine, "super().__hasattr__", instance, (Const(name),), {}, node, frame)
        info = instance.cls.info if isinstance(instance, Instance) else instance.info
        return find_member(machine, info, name, owner.owner) is not None


class NamespaceVariable(Variable):
    """A module of the checked source."""

    def getattr(self, machine: Machine, owner, name, node, frame) -> Value:
        if (measured := measured_member(machine, owner.info, name)) is not None:
            return measured
        value = module_names(machine, owner.info).get(name)
        if value is not None:
            return resolve_import(machine, value)
        inner = machine.find(f"{owner.info.name}.{name}", owner.info)
        if inner is not None:
            return Namespace(inner)
        defining = machine.starred(owner.info, name)
        return UNKNOWN if defining is None else module_names(machine, defining).get(name, UNKNOWN)


class Recorder(Value, eq=False):
    """Stands for the compiled callable while a driver runs; keeps what it is called with."""

    calls: list[tuple[list[Value], dict[str, Value], dict[str, str]]] = []
    found: list[dict[str, Value]] = []  # at each call, by name: what is no argument
    marks: list[int] = []  # how many attributes had been set from outside at each call
    done: list[Watch] = []  # what each call did
    start: int = 0  # how many before the first of them
    target: Value | None = None  # what is compiled
    is_dynamic: bool = False  # sizes and numbers are symbols from the start
    has_examples: bool = False  # some values stand for others, and are not shown
    # by id: for the objects that the first call is given, those with which the region was entered
    places: dict[int, int] = {}

    def record(
        self,
        args: list[Value],
        kwargs: dict[str, Value],
        state: dict[str, str],
        found: dict[str, Value] | None = None,
    ) -> None:
        """Note one call, the global state in which it happens, and what else the code finds."""
        self.found.append(found or {})
        known = {k: as_it_is(v) for k, v in kwargs.items() if not k.startswith("*")}
        self.calls.append(([as_it_is(value) for value in args], known, dict(state)))


class RecorderVariable(Variable):
    """The compiled callable that a driver calls."""

    def call(self, machine: Machine, callee, args, kwargs, node, frame) -> Value:
        callee.record(args, kwargs, machine.driver.state)
        callee.marks.append(len(machine.driver.outside) - callee.start)
        driver, target = machine.driver, callee.target
        if target is None or driver.inside:
            return UNKNOWN
        driver.inside = True  # what the region itself sets is no matter of the driver
        is_object = isinstance(target, Instance)
        entered = machine.getattr(target, "forward", node, frame) if is_object else target
        watch = Watch()
        callee.done.append(watch)
        try:
            with watch.watching(machine, entered):
                return machine.call(target, args, kwargs, node, frame)
        except Raised:
            return UNKNOWN
        finally:
            driver.inside = False
