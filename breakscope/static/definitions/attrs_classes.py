"""Classes that the package attrs writes `__init__` for, and what that one does which Dynamo does not trace."""

from __future__ import annotations

import ast

from breakscope.rulekit.values import External
from breakscope.rulekit.walking import last_name
from breakscope.static.definitions.classes import members_of, mro_of
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.machine import Machine
from breakscope.static.project.modules import ClassInfo

FREEZES = frozenset({"attr.frozen", "attrs.frozen"})
DECORATORS = FREEZES | frozenset(
    """
    attr.s attr.attrs attr.attributes attr.dataclass attr.define attr.mutable attrs.define attrs.mutable
    """.split()
)
FIELDS = frozenset({"attrib", "field", "ib"})
COMPUTED = frozenset({"converter", "factory", "validator"})


def written_by_attrs(machine: Machine, info: ClassInfo) -> str:
    """What the `__init__` that attrs writes for a class does: "frozen" where it sets the fields past the class's own
    `__setattr__`, "computed" where it calls factories, validators or converters, else ""."""
    for cls in mro_of(machine, info):
        if "__init__" in members_of(cls):
            return ""
        outside = Frame(cls.module, scope=cls.scope)
        for decorator in cls.node.decorator_list:
            called = isinstance(decorator, ast.Call)
            maker = machine.eval(decorator.func if called else decorator, outside)
            if not isinstance(maker, External) or maker.name not in DECORATORS:
                continue
            words = decorator.keywords if called else []
            if maker.name in FREEZES or any(map(_is_frozen, words)):
                return "frozen"
            if any(map(_computes, cls.node.body)):
                return "computed"
    return ""


def _is_frozen(word: ast.keyword) -> bool:
    return word.arg == "frozen" and getattr(word.value, "value", None) is True


def _computes(statement: ast.stmt) -> bool:
    """`x = field(factory=list)`, `x = attr.ib(default=Factory(list))`, and `@x.validator` of a function."""
    if isinstance(statement, ast.FunctionDef):
        return any(last_name(d) in ("default", "validator") for d in statement.decorator_list)
    value = getattr(statement, "value", None)
    if not isinstance(value, ast.Call) or last_name(value.func) not in FIELDS:
        return False
    return any(
        word.arg in COMPUTED
        or (isinstance(word.value, ast.Call) and last_name(word.value.func) == "Factory")
        for word in value.keywords
    )
