"""Predicts which functions and comprehensions Dynamo compiles by themselves when eager Python
calls them after a break."""

from __future__ import annotations

import ast

from breakscope import limits
from breakscope.rulekit.values import (
    Function,
    Value,
    holds_tensor,
    options,
)
from breakscope.rulekit.walking import kept_with_node, names_in, walk
from breakscope.static.definitions.classes import is_module
from breakscope.static.definitions.names import module_names
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.machine import Machine
from breakscope.static.project.generators import is_generator
from breakscope.static.project.modules import FunctionInfo, Import
from breakscope.static.variables.lists import MODULES

TRACED_NAMESPACES = frozenset(
    {"torch", "torch.nn", "torch.nn.functional", "torch.fft", "torch.linalg", "numpy"}
)


def is_function_compiled_apart(
    machine: Machine, function: Function, names: dict[str, Value]
) -> bool:
    """True unless the parameters `names` certainly hold no tensor and no module, and the body
    names none either."""
    info = function.info
    if is_generator(info):
        return False
    if any(_may_show_tensor(machine, value) for value in names.values()):
        return True
    return mentions_torch(machine, info) or (
        function.scope is not None and shows_tensor_around(machine, info, function.scope)
    )


def mentions_torch(machine: Machine, info: FunctionInfo) -> bool:
    """True when the body names something that was imported from torch or numpy."""
    if info.mentions_torch is None:
        bound = module_names(machine, info.module)
        info.mentions_torch = any(
            type(value := bound.get(name)) is Import
            and value.module.partition(".")[0] in ("torch", "numpy")
            for name in _names_in_body(info)
        )
    return info.mentions_torch


@kept_with_node
def _names_in_body(info: FunctionInfo) -> frozenset[str]:
    body = info.node.body if isinstance(info.node.body, list) else [info.node.body]
    return frozenset().union(*map(names_in, body))


def shows_tensor_around(machine: Machine, info: FunctionInfo, scope: Frame) -> bool:
    """True when the body may name a tensor or module of the functions around it."""
    for name in _names_inside(info):
        around = scope if name in scope.names else scope.enclosing(name)
        if around is not None and _may_show_tensor(machine, around.names[name]):
            return True
    return False


@kept_with_node
def _names_inside(info: FunctionInfo) -> frozenset[str]:
    return frozenset(names_in(info.node))


def is_comprehension_compiled_by_itself(machine: Machine, node, frame: Frame) -> bool:
    """True when Dynamo looks at the comprehension's own frame: it names torch or numpy, or a
    tensor or module of the function around it (see has_tensor_in_frame in
    torch/_dynamo/convert_frame.py)."""
    for part in _names_from_around(node):
        value = frame.names.get(part)
        if value is None and (scope := frame.enclosing(part)) is not None:
            value = scope.names[part]
        if value is not None:
            if any(
                holds_tensor(o) or is_module(machine, o) or getattr(o, "type", "") in MODULES
                for o in options(value)
            ):
                return True
        elif type(bound := module_names(machine, frame.module).get(part)) is Import:
            name = f"{bound.module}.{bound.member}" if bound.member else bound.module
            if name in TRACED_NAMESPACES or (
                not bound.member and name.startswith(("torch.", "numpy."))
            ):
                return True
    return False


@kept_with_node
def _names_from_around(comprehension: ast.AST) -> list[str]:
    """The names of others than its own that a comprehension has, but for what it goes over: that the function around
    it evaluates."""
    names = [part for part in walk(comprehension) if isinstance(part, ast.Name)]
    own = {part.id for part in names if isinstance(part.ctx, ast.Store)}
    outside = {id(part) for part in walk(comprehension.generators[0].iter)}
    return [p.id for p in names if p.id not in own and id(p) not in outside]


def _may_show_tensor(machine: Machine, value: Value) -> bool:
    return machine.behaviour(value).may_show_tensor(machine, value, limits.DEEPEST_FRAME_SEARCH)
