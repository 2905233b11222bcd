"""Classes of the checked source: bases, method resolution order, members, fields."""

from __future__ import annotations

import ast

from breakscope.static.frames import Frame, Raised
from breakscope.static.modules import ClassInfo, function_info
from breakscope.values import (
    UNKNOWN,
    Class,
    Dict,
    External,
    ExternalInstance,
    Function,
    Instance,
    Sequence,
    Value,
    options,
)
from breakscope.walking import walk

MODULE_BASES = ("torch.nn.Module", "torch.nn.modules.module.Module")
FACTORIES = {"list": "list", "dict": "dict", "tuple": "tuple", "set": "set"}


class Classes:
    """What a class has."""

    __slots__ = ()

    def bases(self, info: ClassInfo) -> list[Value]:
        """The values of a class's bases."""
        if info.bases is None:
            info.bases = []
            frame = Frame(info.module, None, info.scope, None, False, 0, "")
            for base in info.node.bases:
                try:
                    value = self.eval(base.value if type(base) is ast.Subscript else base, frame)
                except Raised:
                    value = UNKNOWN
                info.bases.extend(options(value))
        return info.bases

    def mro(self, info: ClassInfo) -> list[ClassInfo]:
        """The classes of the checked source in method resolution order (C3, else depth first)."""
        if info.mro is None:
            info.mro = [info]  # ends a cycle
            parents = [b.info for b in self.bases(info) if isinstance(b, Class) and b.info is not info]
            info.mro = [info, *_merge([*(list(self.mro(p)) for p in parents), parents])]
        return info.mro

    def external_bases(self, info: ClassInfo) -> tuple[str, ...]:
        """Canonical names of the bases outside of the checked source, of all classes in the order."""
        if info.external_bases is None:
            names: dict[str, None] = {}
            for cls in self.mro(info):
                for base in self.bases(cls):
                    if isinstance(base, External):
                        names.setdefault(base.name)
                    elif base.is_unknown:
                        names.setdefault("?")
            info.external_bases = tuple(names)
        return info.external_bases

    def is_module(self, value: Value) -> bool:
        """True for an object whose class derives from torch.nn.Module, as far as the source shows."""
        if isinstance(value, Instance):
            return self.is_module_class(value.cls.info)
        return isinstance(value, ExternalInstance) and value.name.startswith("torch.nn.")

    def is_module_class(self, info: ClassInfo) -> bool:
        if info.is_module is None:
            bases = self.external_bases(info)
            info.is_module = any(
                name in MODULE_BASES or name.startswith("torch.nn.") or name.endswith("Module") for name in bases
            ) or ("?" in bases and self.find_member(info, "forward") is not None)
        return info.is_module

    def members(self, info: ClassInfo) -> dict[str, object]:
        """Statements that define each name in a class body; a name's last definition wins."""
        if info.members is None:
            info.members = {}
            _collect(info.node.body, info.members)
        return info.members

    def find_member(self, info: ClassInfo, name: str, after: ClassInfo | None = None) -> Value | None:
        """The value of a class attribute through the classes in order (behind `after` for super)."""
        order = info.mro or self.mro(info)
        if after is not None:
            order = order[order.index(after) + 1 :] if after in order else []
        for cls in order:
            if name in cls.values:
                return cls.values[name]
            members = cls.members
            statement = (self.members(cls) if members is None else members).get(name)
            if statement is not None:
                value = self.member_value(cls, name, statement)
                cls.values[name] = value
                return value
        return None

    def member_value(self, cls: ClassInfo, name: str, statement: ast.stmt) -> Value:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            info = function_info(cls.module, statement, cls.qualname, cls)
            return self.decorate(statement, Function(info, scope=cls.scope), self.class_frame(cls, statement))
        frame = Frame(cls.module, None, cls.scope, None, False, 0, cls.qualname)
        for other in ("staticmethod", "classmethod", "property"):
            frame.names[other] = External(other)
        if isinstance(statement, ast.ClassDef):
            self.exec_ClassDef(statement, frame)
            return frame.names[statement.name]
        try:
            self.exec_table[type(statement)](statement, self.class_frame(cls, statement, frame))
        except Raised:
            return UNKNOWN
        value = frame.names.get(name, UNKNOWN)
        if isinstance(value, Sequence | Dict) and not value.home:
            value.home = f"{cls.name}.{name}"
            self.note_nested(value, value.home)
        return value

    def class_frame(self, cls: ClassInfo, statement: ast.stmt, frame: Frame | None = None) -> Frame:
        """A frame in which the names of the class body are visible to its later statements."""
        frame = frame or Frame(cls.module, None, cls.scope, None, False, 0, cls.qualname)
        is_definition = isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        now = statement.decorator_list if is_definition else [statement]  # what runs when the class is made
        used = {n.id for part in now for n in walk(part) if type(n) is ast.Name}
        for name in used & self.members(cls).keys():
            if self.members(cls)[name] is not statement:
                if name not in cls.values:
                    cls.values[name] = UNKNOWN  # ends a cycle
                    cls.values[name] = self.member_value(cls, name, self.members(cls)[name])
                frame.names[name] = cls.values[name]
        return frame

    def fields(self, info: ClassInfo) -> list[tuple[str, ast.expr, ast.expr | None, ClassInfo]]:
        """(name, annotation, default, class) of the fields of a dataclass or NamedTuple, bases first."""
        if info.fields is None:
            found: dict[str, tuple] = {}
            for cls in reversed(self.mro(info)):
                for statement in cls.node.body:
                    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                        if not _is_class_variable(statement.annotation):
                            found[statement.target.id] = (
                                statement.target.id,
                                statement.annotation,
                                statement.value,
                                cls,
                            )
            info.fields = list(found.values())
        return info.fields

    def has_generated_init(self, info: ClassInfo) -> bool:
        """True when `@dataclass` writes the `__init__`, also over one that the class inherits."""
        for cls in self.mro(info):
            if "__init__" in self.members(cls):
                return False
            if any(map(_makes_init, cls.node.decorator_list)):
                return True
        return False

    def annotations(self, info: ClassInfo) -> dict[str, ast.expr]:
        """The annotated names of a class body."""
        if info.annotations is None:
            info.annotations = {
                s.target.id: s.annotation
                for s in info.node.body
                if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)
            }
        return info.annotations

    def field_names(self, instance: Instance) -> list[str]:
        """The fields over which an object unpacks: those of a NamedTuple; none for other classes."""
        if "typing.NamedTuple" in self.external_bases(instance.cls.info):
            return [name for name, *_ in self.fields(instance.cls.info)]
        return []

    def bound_to(self, member: Value, owner: Value) -> Value:
        """A class member as an attribute of `owner` (an Instance or a Class)."""
        if not isinstance(member, Function) or member.bound is not None:
            return member
        marks = member.info.marks
        if "staticmethod" in marks:
            return member
        if "classmethod" in marks:
            return Function(member.info, owner.cls if isinstance(owner, Instance) else owner, member.scope)
        spec = member.info.node.args
        if isinstance(owner, Class) or member.info.owner is None and not (spec.args or spec.posonlyargs or spec.vararg):
            return member
        return Function(member.info, owner, member.scope, member.args, member.kwargs)


def _is_class_variable(annotation: ast.expr) -> bool:
    named = annotation.value if isinstance(annotation, ast.Subscript) else annotation
    return getattr(named, "id", getattr(named, "attr", "")) == "ClassVar"


def _collect(body: list[ast.stmt], members: dict[str, object]) -> None:
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            decorators = {d.attr for d in getattr(statement, "decorator_list", ()) if isinstance(d, ast.Attribute)}
            if "setter" in decorators:
                members[f"{statement.name}.setter"] = statement
            elif "deleter" not in decorators and not any(
                getattr(d, "id", getattr(d, "attr", "")) in ("overload", "_overload_method")
                for d in statement.decorator_list
            ):
                members[statement.name] = statement
        elif isinstance(statement, ast.Assign):
            for target in statement.targets:
                for name in walk(target):
                    if type(name) is ast.Name:
                        members[name.id] = statement
        elif (
            isinstance(statement, ast.AnnAssign)
            and statement.value is not None
            and isinstance(statement.target, ast.Name)
        ):
            members[statement.target.id] = statement
        elif isinstance(statement, ast.If | ast.Try):
            _collect(statement.body, members)
            _collect(statement.orelse, members)


def _merge(rows: list[list[ClassInfo]]) -> list[ClassInfo]:
    """C3 linearization; when the order is contradictory, first come first served."""
    result: list[ClassInfo] = []
    rows = [r for r in rows if r]
    while rows:
        for row in rows:
            head = row[0]
            if not any(head in other[1:] for other in rows):
                break
        else:
            head = rows[0][0]
        result.append(head)
        rows = [[c for c in r if c is not head] for r in rows]
        rows = [r for r in rows if r]
    return result


def _makes_init(decorator: ast.expr) -> bool:
    """`@dataclass`, `@dataclasses.dataclass(frozen=True)`."""
    options = decorator.keywords if isinstance(decorator, ast.Call) else []
    named = decorator.func if isinstance(decorator, ast.Call) else decorator
    if getattr(named, "id", getattr(named, "attr", "")) != "dataclass":
        return False
    return not any(k.arg == "init" and isinstance(k.value, ast.Constant) and k.value.value is False for k in options)
