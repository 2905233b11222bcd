"""Template methods: what a framework's method finds on a model in the place of the steps that it calls on itself."""

from __future__ import annotations

import ast
import re

from breakscope.static.modules import ClassInfo, FunctionInfo
from breakscope.values import Function, Instance

CALL_ON_SELF = r"\b(?:self|super\(\))\.(\w+)\("


class Templates:
    """Which methods of other files fill in a function's steps."""

    __slots__ = ()

    def filled_in(self, function: Function) -> tuple[str, ...]:
        """What stands on a model of another file in the place of the methods that the function calls on its object: a
        template's outcome is that of the steps that are filled in."""
        owner, bound = function.info.owner, function.bound
        if type(bound) is not Instance or owner is None or bound.cls.info.module is owner.module:
            return ()
        found = []
        for name in self.steps(function.info):
            member = bound.attributes.get(name) or self.find_member(bound.cls.info, name)
            if type(member) is Function and (member.info.module is not owner.module or member.scope is not owner.scope):
                found.append(f"{name} {id(member.info)} {id(member.scope)}")
        return tuple(found)

    def steps(self, info: FunctionInfo) -> tuple[str, ...]:
        """The methods that a method calls on its own object, or that those of them call which its class has."""
        if info.steps is None:
            seen: set[str] = set()
            waiting: list[tuple[ClassInfo, ast.AST]] = [(info.owner, info.node)]
            while waiting:
                cls, node = waiting.pop()
                lines = cls.module.source_lines()[node.lineno - 1 : node.end_lineno]  # bodies may have been let go of
                fresh = set(re.findall(CALL_ON_SELF, "".join(lines))) - seen
                seen |= fresh
                owned = [(c, self.members(c).get(name)) for name in fresh for c in self.mro(info.owner)]
                waiting += [(c, member) for c, member in owned if isinstance(member, ast.FunctionDef)]
            info.steps = tuple(sorted(seen))
        return info.steps
