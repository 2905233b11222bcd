"""What stands in the body of a class: methods of every sort, properties, constants."""

from __future__ import annotations

import _ast

from breakscope.plain.classes import Class
from breakscope.plain.kinds import NONE, TEXT, UNKNOWN, Bound, Data, NotPlain, Self, Types, join
from breakscope.plain.names import CONTEXTS
from breakscope.plain.objects import DISPLAYS, Frame

TRANSPARENT = "@"
UNDECORATING = frozenset(
    """
    torch.no_grad torch.enable_grad torch.inference_mode torch.jit.ignore torch.jit.export torch.jit.unused
    torch.jit.script_if_tracing abc.abstractmethod typing.no_type_check typing.final typing.override
    """.split()
)


class Members:
    """Members of classes, asked of an object or of the class itself."""

    def member(self, owner: Self | Data, cls: Class, node: _ast.FunctionDef) -> object:
        """A method as an attribute of an object; a property is run."""
        kind = self.sort(node)
        if kind == "property":
            return self.call_function(node, cls, owner, [], {})
        if kind == "":
            return Bound(node, cls, owner)
        return self.member_of_class(owner.cls, cls, node)

    def member_of_class(self, owner: Class, cls: Class, node: _ast.FunctionDef) -> object:
        """A method as an attribute of a class, which may derive from the one that has it."""
        kind = self.sort(node)
        if kind == "staticmethod":
            return self.function(node)
        return Bound(node, cls, Types(frozenset({owner}))) if kind == "classmethod" else self.fail()

    def class_attribute(self, classes: frozenset, name: str) -> object:
        """A constant of an enum, or of the body of a class; a method that needs no object."""
        if name in self.files.stored:
            return self.fail()
        made: object = NONE
        for cls in classes:
            made = join(made, TEXT if cls.is_enum else self.in_body(cls, name))
        return self.fail() if made == UNKNOWN or made == NONE else made

    def in_body(self, cls: Class, name: str) -> object:
        for one in cls.order():
            if name in one.methods:
                return self.member_of_class(cls, one, one.methods[name])
            if name in one.values:
                return self.constant_of(one, name)
        return self.fail()

    def constant_of(self, cls: Class, name: str) -> object:
        """The kind of a value in the body of a class."""
        before, self.source = self.source, cls.source
        found = self.constant(cls.values[name])
        if found == UNKNOWN and type(cls.values[name]) in DISPLAYS and cls.source.is_only_read(f".{name}"):
            found = self.eval(cls.values[name], Frame({}, None, None)) if name not in self.files.stored else UNKNOWN
        self.source = before
        return found

    def own_method(self, cls: Class, name: str) -> tuple[Class, _ast.FunctionDef] | None:
        """The method that a class has by this name, and the class that has it; refused where a decorator changes it."""
        found = cls.method(name)
        if found is not None and found[1].decorator_list:
            before, self.source = self.source, found[0].source
            if self.sort(found[1]) != "":
                raise NotPlain
            self.source = before
        return found

    def sort(self, node: _ast.FunctionDef) -> str:
        """"property", "staticmethod" or "classmethod", "" for a method; another word for one that is not known."""
        names = [name for name in map(self.decorator, node.decorator_list) if name != TRANSPARENT]
        return "" if not names else names[0] if len(names) == 1 else "?"

    def decorator(self, node: _ast.expr) -> str:
        """The name of a decorator; TRANSPARENT for one that the analyzer takes to leave functions as they are."""
        if self.source.registry(node):
            return TRANSPARENT
        node = node.func if type(node) is _ast.Call else node
        name = self.source.dotted(node)
        if type(node) is _ast.Name and node.id not in self.source.bound:
            return node.id
        is_transparent = name in UNDECORATING or name in CONTEXTS or self.source.is_silent(name)
        return TRANSPARENT if is_transparent else name or "?"
