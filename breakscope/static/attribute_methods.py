"""Attributes that a class keeps in its own way: `__getattr__`, `__setattr__`, and what of them `super()` has."""

from __future__ import annotations

import ast

from breakscope.events import Call
from breakscope.static.frames import Frame, Raised
from breakscope.values import NONE, UNKNOWN, Const, External, Function, Instance, Value


class AttributeMethods:
    """What runs where an attribute is missing or set."""

    __slots__ = ()

    def missing_attribute(self, owner: Instance, getter: Value, name: str, node: ast.AST, frame: Frame) -> Value:
        """What the class's `__getattr__` gives for an attribute that nothing was seen to set."""
        if frame.emits and self.interesting("object.__getattr__"):
            self.emit(
                Call, node, frame, "likely", name="object.__getattr__", receiver=owner, args=(Const(name), getter), kwargs={}
            )
        if type(getter) is not Function or name.startswith("__"):
            return UNKNOWN
        try:
            return self.call_implicitly(self.bound_to(getter, owner), [Const(name)], node, frame)
        except Raised:
            return UNKNOWN  # some code that was not seen sets it

    def tell_setter(self, owner: Instance, name: str, value: Value, node: ast.AST, frame: Frame) -> None:
        """Run the `__setattr__` of a class that keeps its attributes elsewhere, where its `__getattr__` finds them."""
        setter = self.find_member(owner.cls.info, "__setattr__")
        if type(setter) is not Function or type(self.find_member(owner.cls.info, "__getattr__")) is not Function:
            return
        try:
            self.call_implicitly(self.bound_to(setter, owner), [Const(name), value], node, frame)
        except Raised:
            pass

    def inherited_attribute_method(
        self, owner: Instance, method: str, args: list[Value], node: ast.AST, frame: Frame
    ) -> Value:
        """`super().__getattr__(name)` and `super().__setattr__(name, value)` of an object or module."""
        name = args[0].value if args and type(args[0]) is Const else None
        if type(name) is not str:
            return UNKNOWN
        if method == "__setattr__":
            if len(args) == 2 and id(owner) not in self.made_inside:
                self.put_attribute(owner, name, args[1], frame)
            return NONE
        if name in owner.attributes:
            return owner.attributes[name]
        if method == "__getattr__" and frame.caught:
            raise Raised(External("AttributeError"))
        return UNKNOWN
