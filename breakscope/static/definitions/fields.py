"""Fields of dataclasses and named tuples, and the annotated names of a class body."""

from __future__ import annotations

import ast

from breakscope.rulekit.values import Instance
from breakscope.rulekit.walking import kept_with_node, last_name, plain_parameters
from breakscope.static.definitions.classes import class_facts, external_bases, members_of, mro_of
from breakscope.static.machine.machine import Machine
from breakscope.static.project.modules import ClassInfo


def fields_of(
    machine: Machine, info: ClassInfo
) -> list[tuple[str, ast.expr, ast.expr | None, ClassInfo]]:
    """(name, annotation, default, class) of the fields of a dataclass or NamedTuple, bases
    first."""
    facts = class_facts(machine, info)
    if facts.fields is None:
        found: dict[str, tuple] = {}
        for cls in reversed(mro_of(machine, info)):
            for statement in cls.node.body:
                if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                    if not _is_class_variable(statement.annotation):
                        found[statement.target.id] = (
                            statement.target.id,
                            statement.annotation,
                            statement.value,
                            cls,
                        )
        facts.fields = list(found.values())
    return facts.fields


def is_plain(machine: Machine, info: ClassInfo) -> bool:
    """True for a class that nothing makes a constructor for: what its body sets stays the class's."""
    known = {"object", "abc.ABC", "torch.nn.Module", "torch.nn.modules.module.Module"}
    return known.issuperset(external_bases(machine, info)) and not any(
        cls.node.decorator_list or cls.node.keywords for cls in mro_of(machine, info)
    )


def has_generated_init(machine: Machine, info: ClassInfo) -> bool:
    """True when `@dataclass` writes the `__init__`, also over one that the class inherits."""
    for cls in mro_of(machine, info):
        if "__init__" in members_of(cls):
            return False
        if any(map(_makes_init, cls.node.decorator_list)):
            return True
    return False


def has_optional_keys(machine: Machine, info: ClassInfo) -> bool:
    """True for a TypedDict with keys that may be missing: under `total=False`, or as NotRequired."""
    for cls in mro_of(machine, info):
        is_total = not any(
            word.arg == "total" and getattr(word.value, "value", True) is False
            for word in cls.node.keywords
        )
        for annotation in class_annotations(cls).values():
            kind = annotation.value if isinstance(annotation, ast.Subscript) else None
            name = last_name(kind)
            if name == "NotRequired" or (not is_total and name != "Required"):
                return True
    return False


@kept_with_node
def class_annotations(info: ClassInfo) -> dict[str, ast.expr]:
    """The annotated names of a class body."""
    return {
        s.target.id: s.annotation
        for s in info.node.body
        if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)
    }


@kept_with_node
def constructor_annotations(info: ClassInfo) -> dict[str, ast.expr]:
    """The attributes that the class's own `__init__` sets to a parameter, with its annotation."""
    annotations = {}
    init = next((s for s in info.node.body if getattr(s, "name", "") == "__init__"), None)
    if isinstance(init, ast.FunctionDef):
        given = {p.arg: p.annotation for p in plain_parameters(init)}
        for statement in init.body:
            for name, value in _stored(statement):
                if given.get(value) is not None:
                    annotations[name] = given[value]
    return annotations


def _stored(statement: ast.stmt) -> list[tuple[str, str]]:
    """The attributes of `self` that an assignment sets, each with the name that it is set to."""
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Name):
        return []
    return [
        (target.attr, statement.value.id)
        for target in statement.targets
        if isinstance(target, ast.Attribute)
        and isinstance(target.value, ast.Name)
        and target.value.id == "self"
    ]


def field_names(machine: Machine, instance: Instance) -> list[str]:
    """The fields over which an object unpacks: those of a NamedTuple; none for other classes."""
    if "typing.NamedTuple" in external_bases(machine, instance.cls.info):
        return [name for name, *_ in fields_of(machine, instance.cls.info)]
    return []


def compared_fields(machine: Machine, info: ClassInfo) -> list[str]:
    """The fields by which `@dataclass(order=True)` puts objects in order; none for other classes."""
    words = [
        word
        for decorator in info.node.decorator_list
        if isinstance(decorator, ast.Call)
        for word in decorator.keywords
    ]
    if not any(
        word.arg == "order" and getattr(word.value, "value", None) is True for word in words
    ):
        return []
    return [name for name, _, default, _ in fields_of(machine, info) if _is_compared(default)]


def _is_compared(default: ast.expr | None) -> bool:
    """False for `field(compare=False)`."""
    words = default.keywords if isinstance(default, ast.Call) else []
    return not any(w.arg == "compare" and getattr(w.value, "value", None) is False for w in words)


def _is_class_variable(annotation: ast.expr) -> bool:
    named = annotation.value if isinstance(annotation, ast.Subscript) else annotation
    return getattr(named, "id", getattr(named, "attr", "")) == "ClassVar"


def _makes_init(decorator: ast.expr) -> bool:
    """`@dataclass`, `@dataclasses.dataclass(frozen=True)`."""
    options = decorator.keywords if isinstance(decorator, ast.Call) else []
    named = decorator.func if isinstance(decorator, ast.Call) else decorator
    if getattr(named, "id", getattr(named, "attr", "")) != "dataclass":
        return False
    return not any(
        k.arg == "init" and isinstance(k.value, ast.Constant) and k.value.value is False
        for k in options
    )
