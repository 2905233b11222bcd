"""Regions that `--entry FILE::NAME` names."""

from __future__ import annotations

import ast
from fnmatch import fnmatch

from breakscope.rulekit.values import (
    UNKNOWN,
    Class,
    Dict,
    External,
    ExternalInstance,
    Function,
    Instance,
    Py,
    Sequence,
    Union,
    Value,
)
from breakscope.static.definitions.classes import bound_to, find_member, members_of
from breakscope.static.definitions.names import module_names, resolve_import
from breakscope.static.machine.frames import Activation, Frame, OutOfBudget, Raised
from breakscope.static.machine.gaps import why
from breakscope.static.machine.kept import contents_of
from breakscope.static.machine.machine import Machine
from breakscope.static.project.modules import ModuleInfo, Namespace
from breakscope.static.regions.arguments import as_argument, parameter_values
from breakscope.static.regions.configured import configured_instance
from breakscope.static.regions.discovery.discover import (
    NOWHERE,
    apart,
    enter,
    home_of,
    module_region,
)
from breakscope.static.regions.driver import add_call_events
from breakscope.static.regions.region import Region


def entry_regions(machine: Machine, module: ModuleInfo, pattern: str) -> list[Region]:
    """The regions that an entry's NAME pattern names in this file: a factory's callable, a class, a
    function, or `Class.method`."""
    regions = []
    names = module_names(machine, module)
    for name, raw in list(names.items()):
        value = resolve_import(machine, raw)
        if isinstance(value, Class) and value.info.module is module and "." in pattern:
            for method in _named_methods(machine, value, name, pattern):
                regions += apart(machine, method, _method_entry)
        if not fnmatch(name, pattern) or isinstance(value, Namespace):
            continue
        machine.budget.begin()
        if isinstance(value, Class) and value.info.module is module:
            regions += apart(machine, value, module_region)
        elif isinstance(value, Instance):
            forward = machine.getattr(value, "forward", ast.Constant(None), Frame(module))
            if isinstance(forward, Function):
                regions.append(
                    enter(machine, name, value, *parameter_values(machine, forward, True))
                )
        elif isinstance(value, Function) and value.info.module is module:
            regions += apart(machine, value, _function_entry)
    return [region for region in regions if region is not None]


def _named_methods(machine: Machine, cls: Class, name: str, pattern: str) -> list[Function]:
    named = [
        member
        for method in members_of(cls.info)
        if fnmatch(f"{name}.{method}", pattern)
        and isinstance(member := find_member(machine, cls.info, method), Function)
    ]
    owner = configured_instance(machine, cls) if named else UNKNOWN
    methods = [bound_to(member, owner) for member in named]
    return [method for method in methods if isinstance(method, Function)]


def _method_entry(machine: Machine, method: Function) -> Region:
    name = method.info.qualname
    return enter(machine, name, method, *parameter_values(machine, method, True))


def _function_entry(machine: Machine, function: Function) -> Region:
    made = _factory_product(machine, function)
    if made is UNKNOWN:
        name = function.info.qualname
        return Region(name, Activation(name, function.info.module, function.info.node.lineno))
    if made is None:
        return enter(
            machine,
            function.info.qualname,
            function,
            *parameter_values(machine, function, True),
        )
    target, args, kwargs, given = made
    of_library = isinstance(target, Instance | Function) and home_of(target).library
    at = function.info.node if of_library else NOWHERE
    contents = contents_of((target,))  # which the region may change
    region = enter(machine, describe(target), target, args, kwargs, at)
    add_call_events(machine, function.info.module, target, region.activation, *given, contents)
    return region


def describe(target: Value) -> str:
    if isinstance(target, Instance):
        return f"{target.cls.info.qualname}.forward"
    return target.info.qualname if isinstance(target, Function) else target.describe()


def _factory_product(
    machine: Machine, function: Function
) -> tuple[Value, list[Value], dict[str, Value], tuple[list, dict]] | Value | None:
    """(callable, args, kwargs) when the function is a factory that returns them, or a module alone, and with what
    the callable is called, of which the arguments do not show all; UNKNOWN when the source does not show what it
    makes; None for a function that makes none."""
    spec = function.info.node.args
    needed = len(spec.posonlyargs) + len(spec.args) - len(spec.defaults)
    if needed > (function.bound is not None):
        return None
    try:
        made = machine.inline(function, [], {}, function.info.node, Frame(function.info.module))
    except Raised:
        return None
    except OutOfBudget as problem:
        machine.give_up(why(problem), function.info.node, Frame(function.info.module))
        return None
    if isinstance(made, Instance):
        forward = machine.getattr(made, "forward", ast.Constant(None), Frame(function.info.module))
        if not isinstance(forward, Function):
            return None
        args, kwargs = parameter_values(machine, forward, True)
        return made, args, kwargs, (args, kwargs)
    if (
        not isinstance(made, Sequence)
        or made.type != "tuple"
        or not made.items
        or len(made.items) > 3
    ):
        return None
    target, rest = made.items[0], made.items[1:]
    if (
        (target is UNKNOWN or (isinstance(target, Py) and target.type == "unknown"))
        and rest
        and all(value is UNKNOWN or isinstance(value, Sequence | Dict) for value in rest)
    ):
        return UNKNOWN
    if not isinstance(target, Function | Instance | ExternalInstance | Union | Sequence | External):
        return None
    if not rest or not isinstance(rest[0], Sequence):
        return None
    args = list(rest[0].items) if rest[0].items is not None else [rest[0].element]
    kwargs = rest[1].items if len(rest) > 1 and isinstance(rest[1], Dict) else {}
    entered = [as_argument(a) for a in args], {k: as_argument(v) for k, v in kwargs.items()}
    return target, *entered, (args, kwargs)
