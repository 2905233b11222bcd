"""Attributes: how they are read and stored."""

from __future__ import annotations

import ast
import builtins

from breakscope.events import Call, Store
from breakscope.static.code_objects import cells, code_attribute
from breakscope.static.construction import Super
from breakscope.static.frames import Frame
from breakscope.static.joins import join, join_all
from breakscope.static.program import Import, Namespace
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
    options,
)


TYPES = {"tuple": tuple, "list": list}


class Attributes:
    """How attributes of each kind of value behave."""

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
        if name == "__dict__":
            return Dict(owner.attributes, open=True)
        if name == "__class__":
            return owner.cls
        if name == "training" and self.is_module(owner):
            return Py("bool", "config")
        if self.is_module(owner) and name in self.library.module_methods:
            return Method(owner, name)
        return self.fallback_attribute(owner, name, node, frame)

    def look_at_recurrent(self, value: Value, node: ast.AST, frame: Frame) -> None:
        """A recurrent module breaks where it is first read. One that may be None counts where configuration leads there."""
        kind = type(value)
        if kind is ExternalInstance and value.name in RECURRENT:
            self.emit(Call, node, frame, name=f"{value.name}.forward", receiver=value, kwargs={})
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
        """The first read of a cached property; outside of regions its value stays."""
        self.emit(Call, node, frame, "likely", name="functools.cached_property.__get__", receiver=owner, kwargs={})
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

    def store_attribute(
        self,
        target: ast.Attribute,
        owner: Value,
        name: str,
        value: Value,
        frame: Frame,
        node: ast.AST,
        old: Value | None = None,
    ) -> None:
        for option in options(owner):
            if isinstance(option, Instance):
                self.store_on_instance(target, option, name, value, frame, node, old)
            elif type(option) is Class:
                self.store_on_class(target, option, name, value, frame, node, old)
            elif type(option) is Cell and name == "cell_contents" and not frame.emits:
                self.note_outside(option.scope, option.name, value, option.scope.names[option.name], frame, node)
                option.scope.names[option.name] = join(option.scope.names[option.name], value)
            elif type(option) is Function:
                made_here = option.scope is not None and option.scope.emits
                if frame.emits and not made_here and self.interesting("function.__setattr__"):
                    self.emit(
                        Call, node, frame, name="function.__setattr__", receiver=option, args=(Const(name), value),
                        kwargs={}
                    )
            elif type(option) is ExternalInstance and self.driver is not None and option.name.startswith("torch.nn."):
                self.note_outside(option, name, value, Py("unknown"), frame, node)
            elif option.is_tensor:
                if self.driver is not None and name == "requires_grad" and option.kind == "parameter":
                    self.state["requires_grad"] = self.text(node, frame.module)
                self.emit(
                    Store,
                    node,
                    frame,
                    self.sureness(option),
                    owner=self.text(target.value, frame.module),
                    name=name,
                    scope="tensor",
                    value=value,
                    initial=option,
                )

    def store_on_class(
        self,
        target: ast.Attribute,
        owner: Class,
        name: str,
        value: Value,
        frame: Frame,
        node: ast.AST,
        old: Value | None,
    ) -> None:
        if not frame.emits:
            owner.info.values[name] = value
            owner.info.stores += 1
            return
        source, initial = self.text(target.value, frame.module), self.find_member(owner.info, name)
        if self.interesting("type.__setattr__"):
            self.emit(Call, node, frame, name="type.__setattr__", receiver=owner, args=(Const(name), value), kwargs={})
        if frame.function is not None and frame.function.name in ("__enter__", "__exit__"):
            return  # what a context manager sets, it sets back
        self.emit_store(
            Store,
            node,
            frame,
            (id(owner.info), name),
            owner=source,
            name=name,
            scope="attribute",
            value=value,
            initial=initial if initial is not None else UNKNOWN,
            reads_itself=old is not None or _reads(node, source, name),
        )

    def store_on_instance(
        self,
        target: ast.Attribute,
        owner: Instance,
        name: str,
        value: Value,
        frame: Frame,
        node: ast.AST,
        old: Value | None,
    ) -> None:
        source = target.value.id if type(target.value) is ast.Name else self.text(target.value, frame.module)
        frame.names.pop(f"{source}.{name}", None)
        member = self.find_member(owner.cls.info, name)
        if isinstance(member, Instance):
            method = self.find_member(member.cls.info, "__set__")
            if method is not None:
                self.call_member(member, method, [owner, value], {}, node, frame)
                return
        elif type(member) is Function and "property" in member.info.marks:
            setter = self.find_member(owner.cls.info, f"{name}.setter")
            if setter is not None:
                self.call_member(owner, setter, [value], {}, node, frame)
                return
        self.tell_setter(owner, name, value, node, frame)
        before = owner.attributes.get(name)
        if frame.emits:
            if id(owner) in self.made_inside:
                owner.attributes[name] = value if before is None else join(before, value)
                return
            initial = before if before is not None else self.initial(owner, name)
            reads_itself = old is not None or _reads(node, source, name)
            self.emit_store(
                Store,
                node,
                frame,
                (id(owner), name),
                owner=source,
                name=name,
                scope="attribute",
                value=value,
                initial=initial,
                reads_itself=reads_itself,
            )
            if isinstance(target.value, ast.Name):
                frame.names[f"{source}.{name}"] = value
            if before is None:
                owner.attributes[name] = value
            return
        if isinstance(value, Sequence | Dict) and not value.home:
            value.home = f"{source}.{name}"
            self.note_nested(value, value.home)
        if frame.bound is not owner and frame.function is not None and self.is_module(owner):
            owner.version += 1
        if frame.function is not None and frame.bound is owner or before is None:
            self.note_outside(owner, name, value, before or UNKNOWN, frame, node)
            certain = before is None or frame.lost == "" and not frame.undecided
            owner.attributes[name] = value if certain else join(before, value)
        else:
            self.outside.append((owner, name, value, before, frame.module.path, node))
            owner.attributes[name] = join(before, value)

    def initial(self, owner: Instance, name: str) -> Value:
        member = self.find_member(owner.cls.info, name)
        return member if member is not None else UNKNOWN


def _reads(node: ast.AST, source: str, name: str) -> bool:
    """True when the stored value is computed from the attribute itself."""
    value = getattr(node, "value", None)
    return value is not None and any(
        isinstance(n, ast.Attribute) and n.attr == name and ast.unparse(n.value) == source for n in ast.walk(value)
    )


def _that_may_have(name: str, owner: Union) -> list[Value]:
    """The options that an attribute is read of: of a tuple or an object, what no tuple has."""
    found = [option for option in owner.options if not option.is_none]
    if any(type(option) is Instance for option in found):
        return [o for o in found if type(o) is not Sequence or o.type not in TYPES or hasattr(TYPES[o.type], name)]
    return found
