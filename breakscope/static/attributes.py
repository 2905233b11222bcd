"""Attributes: how they are read."""

from __future__ import annotations

import ast
import builtins

from breakscope.events import Call
from breakscope.static.code_objects import cells, code_attribute
from breakscope.static.construction import Super
from breakscope.static.frames import Frame
from breakscope.static.joins import join_all
from breakscope.static.module_containers import FILLING, HELD, OPEN, READING
from breakscope.static.modules import Import, Namespace
from breakscope.static.recurrent import RECURRENT
from breakscope.static.super_properties import first_use
from breakscope.static.tensors import TENSOR_ONLY
from breakscope.values import (
    UNKNOWN,
    Cell,
    Code,
    Class,
    Const,
    Dict,
    External,
    ExternalInstance,
    Function,
    Instance,
    Method,
    Py,
    Scalar,
    Sequence,
    ShapeInt,
    Tensor,
    Union,
    Value,
)

TYPES = {"tuple": tuple, "list": list}


class Attributes:
    """How attributes of each kind of value behave."""

    __slots__ = ()

    def attribute(self, owner: Value, name: str, node: ast.AST, frame: Frame) -> Value:
        """`owner.name`; runs properties."""
        kind = type(owner)
        if kind is Instance:
            return self.instance_attribute(owner, name, node, frame)
        if kind is External:
            return self.external_attribute(owner.name, name)
        if kind is Tensor:
            return self.tensor_attribute(owner, name, node, frame)
        if kind is Namespace:
            return self.namespace_attribute(owner, name)
        if kind is Union:
            return join_all([self.attribute(o, name, node, frame) for o in _that_may_have(name, owner)])
        if kind is Class:
            return self.class_attribute(owner, name)
        if kind is Super:
            return self.super_attribute(owner, name, node, frame)
        if kind is Py and name in ("any", "all") and owner.type in ("bool", "unknown"):  # no bool has them
            return self.tensor_attribute(Tensor(sure=False), name, node, frame)
        if kind in (Sequence, Dict, Const, ExternalInstance, ShapeInt, Scalar, Py):
            return self.builtin_attribute(owner, name, node, frame)
        if kind is Function:
            if name in ("__name__", "__qualname__"):
                return Const(owner.info.name)
            if name == "__code__":
                return Code(owner.info)
            return cells(owner) if name == "__closure__" else UNKNOWN
        if kind is Code:
            return code_attribute(owner.info, name)
        if kind is Cell:
            return owner.scope.names.get(owner.name, UNKNOWN) if name == "cell_contents" else UNKNOWN
        if kind is type(UNKNOWN) and name in TENSOR_ONLY:
            return self.tensor_attribute(Tensor(sure=False), name, node, frame)
        return UNKNOWN

    def instance_attribute(self, owner: Instance, name: str, node: ast.AST, frame: Frame) -> Value:
        if frame.emits:
            self.reads.setdefault((id(owner), name), (frame.activation, node))
            if type(node) is ast.Attribute and type(node.value) is ast.Name:
                narrowed = frame.names.get(f"{node.value.id}.{name}")
                if narrowed is not None:
                    if type(narrowed) is ExternalInstance and narrowed.name in RECURRENT:
                        self.look_at_recurrent(narrowed, node, frame)
                    return narrowed
        value = owner.attributes.get(name)
        if value is not None:
            if frame.emits:
                self.look_at_recurrent(value, node, frame)
            return self.resolve(value) if type(value) is Import else value
        info = owner.cls.info
        member = self.find_member(info, name)
        if member is not None:
            return self.member_of_instance(owner, member, node, frame)
        if name == "__dict__" or name == "_modules" and not frame.emits:
            return Dict(owner.attributes, open=True)
        if name == "_modules":
            modules = {key: value for key, value in owner.attributes.items() if self.is_module(value)}
            return Dict(modules, open=not modules)
        if name == "__class__":
            return owner.cls
        if name == "training" and self.is_module(owner):
            return Py("bool", "config")
        if HELD in owner.attributes and (name in FILLING or name in READING and self.contents(owner) is not owner):
            return Method(owner.attributes[HELD], name)
        if self.is_module(owner) and name in self.library.module_methods:
            return Method(owner, name)
        if OPEN in owner.attributes and (stored := self.openly_put(owner, name)) is not None:
            return stored
        return self.fallback_attribute(owner, name, node, frame)

    def look_at_recurrent(self, value: Value, node: ast.AST, frame: Frame) -> None:
        """A recurrent module breaks where it is first read. One that may be None counts where configuration leads there."""
        kind = type(value)
        if kind is ExternalInstance and value.name in RECURRENT:
            self.emit(Call, node, frame, name=f"{value.name}.forward", receiver=value, kwargs={})
        elif kind is Instance:
            bases = self.external_bases(value.cls.info)
            if not RECURRENT.isdisjoint(bases):
                base = next(name for name in bases if name in RECURRENT)
                self.emit(Call, node, frame, name=f"{base}.forward", receiver=value, kwargs={})
        elif kind is Union and (frame.condition or frame.undecided):
            found = next((o for o in value.options if type(o) is ExternalInstance and o.name in RECURRENT), None)
            if found is not None and all(o is found or o.is_none for o in value.options):
                self.emit(Call, node, frame, "likely", name=f"{found.name}.forward", receiver=found, kwargs={})

    def member_of_instance(self, owner: Instance, member: Value, node: ast.AST, frame: Frame) -> Value:
        if isinstance(member, Function):
            bound = self.bound_to(member, owner)
            if "property" in member.info.marks:
                if "cached_property" in member.info.marks:
                    return self.cached_property(owner, bound, node, frame)
                return self.call_implicitly(bound, [], node, frame)
            return bound
        if type(member) is ExternalInstance and member.name == "functools.partialmethod":
            return self.partial_method(owner, member, node, frame)
        if isinstance(member, Instance):  # a descriptor
            getter = self.find_member(member.cls.info, "__get__")
            if getter is not None:
                if self.interesting("descriptor.__get__"):
                    self.emit(Call, node, frame, name="descriptor.__get__", receiver=member, kwargs={})
                return self.call_implicitly(self.bound_to(getter, member), [owner, owner.cls], node, frame)
        return member

    def partial_method(self, owner: Instance, member: ExternalInstance, node: ast.AST, frame: Frame) -> Value:
        """A `functools.partialmethod` of the class, bound."""
        if self.interesting("functools.partialmethod.__get__"):
            self.emit(Call, node, frame, name="functools.partialmethod.__get__", receiver=owner, kwargs={})
        target = member.args[0] if member.args else UNKNOWN
        if not isinstance(target, Function):
            return UNKNOWN
        return Function(target.info, owner, target.scope, member.args[1:], member.kwargs)

    def cached_property(self, owner: Instance, bound: Function, node: ast.AST, frame: Frame) -> Value:
        """A read of a cached property, which computes it the first time; outside of regions its value stays."""
        name = "functools.cached_property.__get__"
        self.emit(Call, node, frame, "likely", name=name, receiver=owner, args=(Const(bound.info.name),), kwargs={})
        value = self.call_value(bound, [], {}, node, frame)
        if not frame.emits:
            owner.attributes[bound.info.name] = value
        return value

    def fallback_attribute(self, owner: Instance, name: str, node: ast.AST, frame: Frame) -> Value:
        """An attribute that nothing was seen to set: its annotation, else `__getattr__`, else unknown."""
        for cls in self.mro(owner.cls.info):
            annotation = self.annotations(cls).get(name)
            if annotation is not None:
                return self.value_of_annotation(annotation, Frame(cls.module, None, cls.scope, None, False, 0, ""))
        if self.field_names(owner) and name in ("_replace", "_asdict"):
            return Method(owner, name)
        getter = self.find_member(owner.cls.info, "__getattr__")
        bases = (getattr(builtins, base, None) for base in self.external_bases(owner.cls.info))
        if getter is None or any(hasattr(base, name) for base in bases):
            return UNKNOWN
        return self.missing_attribute(owner, getter, name, node, frame)

    def class_attribute(self, owner: Class, name: str) -> Value:
        member = self.find_member(owner.info, name)
        if member is None:
            if name == "apply" and any(n.startswith("torch.autograd.") for n in self.external_bases(owner.info)):
                return Method(owner, "apply")
            return Const(owner.info.name) if name in ("__name__", "__qualname__") else UNKNOWN
        if any(self.library.is_enum(n) for n in self.external_bases(owner.info)) and not isinstance(member, Function):
            return Py(f"enum {owner.info.name}.{name}")
        return self.bound_to(member, owner)

    def super_attribute(self, owner: Super, name: str, node: ast.AST, frame: Frame) -> Value:
        instance = owner.instance
        info = instance.cls.info if isinstance(instance, Instance) else instance.info
        member = self.find_member(info, name, after=owner.owner)
        if member is None:
            return Method(owner, name)
        if isinstance(member, Function) and "property" in member.info.marks and isinstance(instance, Instance):
            if frame.emits and frame.function is not None and self.interesting("super().property"):
                use = first_use(node, frame.function.node)
                if use is not None:
                    self.emit(Call, use, frame, name="super().property", receiver=instance, args=(Const(name),), kwargs={})
            return self.call_implicitly(self.bound_to(member, instance), [], node, frame)
        if isinstance(member, Function) and name == "__new__":
            return member
        return self.bound_to(member, instance)

    def namespace_attribute(self, owner: Namespace, name: str) -> Value:
        value = self.module_names(owner.info).get(name)
        if value is not None:
            return self.resolve(value)
        inner = self.program.find(f"{owner.info.name}.{name}", owner.info)
        if inner is not None:
            return Namespace(inner)
        defining = self.program.starred(owner.info, name, owner.info)
        return UNKNOWN if defining is None else self.module_names(defining).get(name, UNKNOWN)

    def external_attribute(self, owner: str, name: str) -> Value:
        return self.external(f"{owner}.{name}")


def _that_may_have(name: str, owner: Union) -> list[Value]:
    """The options that an attribute is read of: of a tuple or an object, what no tuple has."""
    found = [option for option in owner.options if not option.is_none]
    if any(type(option) is Instance for option in found):
        return [o for o in found if type(o) is not Sequence or o.type not in TYPES or hasattr(TYPES[o.type], name)]
    return found
