"""Template methods: which of the methods that a method calls on its own object are defined
elsewhere, so that its outcome depends on them."""

from __future__ import annotations

import ast
import re

from breakscope.rulekit.values import Function, Instance
from breakscope.static.definitions.classes import find_member, members_of, mro_of
from breakscope.static.machine.machine import Machine
from breakscope.static.project.modules import ClassInfo, FunctionInfo

CALL_ON_SELF = r"\b(?:self|super\(\))\.(\w+)\("


def filled_in(machine: Machine, function: Function) -> tuple[str, ...]:
    """What a model of another file has in the place of the methods that the function
    calls on its object: a template's outcome is that of the steps that are filled in."""
    owner, bound = function.info.owner, function.bound
    if type(bound) is not Instance or owner is None or bound.cls.info.module is owner.module:
        return ()
    found = []
    for name in steps_of(machine, function.info):
        member = bound.attributes.get(name) or find_member(machine, bound.cls.info, name)
        if type(member) is Function and (
            member.info.module is not owner.module or member.scope is not owner.scope
        ):
            found.append(f"{name} {id(member.info)} {id(member.scope)}")
    return tuple(found)


def steps_of(machine: Machine, info: FunctionInfo) -> tuple[str, ...]:
    """The methods that a method calls on its own object, or that those of them call which its
    class has."""
    if info.steps is None:
        seen: set[str] = set()
        waiting: list[tuple[ClassInfo, ast.AST]] = [(info.owner, info.node)]
        while waiting:
            cls, node = waiting.pop()
            # bodies may have been evicted
            lines = cls.module.source_lines()[node.lineno - 1 : node.end_lineno]
            fresh = set(re.findall(CALL_ON_SELF, "".join(lines))) - seen
            seen |= fresh
            owned = [
                (c, members_of(c).get(name)) for name in fresh for c in mro_of(machine, info.owner)
            ]
            waiting += [(c, member) for c, member in owned if isinstance(member, ast.FunctionDef)]
        info.steps = tuple(sorted(seen))
    return info.steps
