"""What a region's `**kwargs` holds, where it does nothing with them but hand them on:
`def forward(self, mode, **kwargs): return self.encode(**kwargs)`."""

from __future__ import annotations

import ast
from collections.abc import Callable

from breakscope.rulekit.values import Function, Py, Value
from breakscope.rulekit.walking import positional_parameters, uses_of, walk
from breakscope.static.machine.machine import Machine
from breakscope.static.regions.uses.bodies import called_by

Arguments = tuple[list[Value], dict[str, Value]]


def handed_keywords(
    machine: Machine, function: Function, name: str, values: Callable[[Function], Arguments]
) -> dict[str, Value]:
    """By name, what the methods and parts that the region hands its keywords to take and are not
    given otherwise; `values` says what a function's parameters are. Nothing where the region itself
    looks at its keywords."""
    node = function.info.node
    calls = [part for part in walk(node) if type(part) is ast.Call and _unpacks(part, name)]
    if not calls or len(uses_of(node, name)) > len(calls):
        return {}
    found: dict[str, Value] = {}
    for call in calls:
        taken = called_by(machine, function, call.func)
        # what calls itself with its keywords takes no others
        if taken is None or taken.bound is None or taken.info is function.info:
            continue
        if any(type(argument) is ast.Starred for argument in call.args):
            continue
        names = [p.arg for p in positional_parameters(taken.info.node)][1:]
        given = {*names[: len(call.args)], *(word.arg for word in call.keywords)}
        args, kwargs = values(taken)
        for key, value in (*zip(names, args), *kwargs.items()):
            # a flag that the call does not name is what its default says
            is_flag = type(value) is Py and value.type == "bool"
            if key not in given and key.isidentifier() and not is_flag:
                found.setdefault(key, value)
    return found


def _unpacks(call: ast.Call, name: str) -> bool:
    return any(w.arg is None and getattr(w.value, "id", "") == name for w in call.keywords)
