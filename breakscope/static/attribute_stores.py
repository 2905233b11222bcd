"""Attributes: how they are stored, on objects, classes and what else has some."""

from __future__ import annotations

import ast

from breakscope.events import Call, Store
from breakscope.static.frames import Frame
from breakscope.static.joins import join
from breakscope.values import (
    UNKNOWN,
    Cell,
    Class,
    Const,
    Dict,
    ExternalInstance,
    Function,
    Instance,
    Py,
    Sequence,
    Value,
    options,
)
from breakscope.walking import walk


class AttributeStores:
    """What an assignment to an attribute does."""

    __slots__ = ()

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
            if reads_itself and initial is UNKNOWN:  # `getattr(self, name, 0) + 1`: a number from the second call on
                initial = Py(type(value.value).__name__) if isinstance(value, Const) else value
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
            elif before.is_none and not value.is_none:  # what is called from here on finds it
                owner.attributes[name] = join(before, value)
                owner.version += 1
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
    return value is not None and any(_is_read(part, source, name) for part in walk(value))


def _is_read(node: ast.AST, source: str, name: str) -> bool:
    """True for `source.name` and `getattr(source, "name", ...)`."""
    if isinstance(node, ast.Attribute):
        return node.attr == name and ast.unparse(node.value) == source
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id != "getattr":
        return False
    return len(node.args) > 1 and getattr(node.args[1], "value", None) == name and ast.unparse(node.args[0]) == source
