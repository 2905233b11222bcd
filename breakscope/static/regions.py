"""Regions: the code of a file that Dynamo would trace."""

from __future__ import annotations

import ast
import re
from fnmatch import fnmatch

from msgspec import Struct

from breakscope.static.arguments import configured_instance, parameter_values, takes_tensors, undecorated
from breakscope.static.calling import add_call_events
from breakscope.static.frames import Activation, Frame, OutOfBudget, Raised
from breakscope.static.interpreter import Interpreter
from breakscope.static.modules import ModuleInfo, Namespace
from breakscope.values import (
    UNKNOWN,
    Class,
    Dict,
    External,
    ExternalInstance,
    Function,
    Instance,
    Sequence,
    Tensor,
    Union,
    Value,
    maybe_tensor,
)
from breakscope.walking import walk

NOWHERE = ast.Pass(lineno=0, col_offset=0)
COMPILES = r"torch(?<!\wtorch)\s*\.\s*compile\s*\("


class Region(Struct, frozen=True):
    """One compiled region: what is called, and the activation that holds what was seen."""

    name: str
    activation: Activation


def default_regions(interpreter: Interpreter, module: ModuleInfo) -> list[Region]:
    """`forward` of every nn.Module class at the top of the file, and every function under torch.compile.

    The last classes go first: they use the earlier ones, which then need no analysis of their own.
    """
    names = interpreter.module_names(module)
    candidates = [v for v in names.values() if isinstance(v, Class | Function) and v.info.module is module]
    interpreter.compiled.extend(compiled_by_name(interpreter, module))
    candidates += [v for v in interpreter.compiled if isinstance(v, Function) and v.info.module is module]
    regions = [_region_of(interpreter, value) for value in reversed(dict.fromkeys(candidates))]
    return [region for region in regions if region is not None]


def exported_regions(
    interpreter: Interpreter, module: ModuleInfo, names: frozenset[str], entered: frozenset[tuple[str, str]]
) -> list[Region]:
    """The functions of these names that take tensors and that no region has entered."""
    regions = []
    defined = interpreter.module_names(module)
    for value in [interpreter.resolve(defined[name]) for name in sorted(names) if name in defined]:
        if type(value) is Function and value.info.module is module and (module.path, value.info.qualname) not in entered:
            region = _function_region(interpreter, value)
            if region is not None:
                regions.append(region)
    return regions


def _function_region(interpreter: Interpreter, function: Function) -> Region | None:
    interpreter.work = 0
    try:
        args, kwargs = parameter_values(interpreter, function, True)
        if any(map(maybe_tensor, args)):
            return enter(interpreter, function.info.qualname, function, args, kwargs)
    except (OutOfBudget, RecursionError):
        interpreter.cut_short = True
    return None


def inherited_regions(interpreter: Interpreter, module: ModuleInfo, checked: frozenset[str]) -> list[Region]:
    """`forward` of the file's nn.Module classes that inherit it from a checked file."""
    regions = []
    for value in interpreter.module_names(module).values():
        if isinstance(value, Class) and value.info.module is module and interpreter.is_module_class(value.info):
            forward = interpreter.find_member(value.info, "forward")
            if isinstance(forward, Function) and forward.info.module.path in checked:
                regions.append(_region_of(interpreter, value))
    return [region for region in regions if region is not None]


def compiled_by_name(interpreter: Interpreter, module: ModuleInfo) -> list[Value]:
    """What `torch.compile(name)` names anywhere in the file, also in functions that are not followed."""
    if "compile" not in module.source or re.search(COMPILES, module.source) is None:
        return []
    names = interpreter.module_names(module)
    found = []
    for node in walk(module.tree):
        if isinstance(node, ast.Call) and _is_compile(node.func) and node.args and isinstance(node.args[0], ast.Name):
            found.append(interpreter.resolve(names.get(node.args[0].id, UNKNOWN)))
    return found


def _is_compile(function: ast.expr) -> bool:
    return (
        isinstance(function, ast.Attribute)
        and function.attr == "compile"
        and isinstance(function.value, ast.Name)
        and (function.value.id == "torch")
    )


def _region_of(interpreter: Interpreter, value: Value) -> Region | None:
    interpreter.work = 0
    try:
        if isinstance(value, Class):
            return _module_region(interpreter, value)
        if "compiled" in value.info.marks or value in interpreter.compiled:
            return enter(interpreter, value.info.qualname, value, *parameter_values(interpreter, value, False))
    except (OutOfBudget, RecursionError):
        interpreter.cut_short = True
    return None


def _module_region(interpreter: Interpreter, cls: Class) -> Region | None:
    if not interpreter.is_module_class(cls.info):
        return None
    forward = interpreter.find_member(cls.info, "forward")
    if not isinstance(forward, Function) or (_only_raises(forward) and "__call__" not in cls.info.members):
        return None
    name = f"{cls.info.qualname}.forward"
    absent = interpreter.reached.get((id(cls.info), id(forward.info)))
    if absent is not None and not takes_tensors(interpreter, forward, absent):
        return Region(name, Activation(name, cls.info.module, cls.info.node.lineno))
    instance = configured_instance(interpreter, cls)
    bound = interpreter.bound_to(forward, instance)
    if not isinstance(bound, Function):
        return None
    taken = undecorated(interpreter, cls.info, "forward", bound)
    entered = interpreter.bound_to(interpreter.find_member(cls.info, "__call__"), instance)
    if isinstance(entered, Function) and (len(entered.info.node.args.args) > 1 or _only_raises(forward)):
        taken = entered  # the class is called by its own `__call__`
    at = cls.info.node if forward.info.module.library else NOWHERE  # who inherits a library's forward enters it there
    return enter(interpreter, name, instance, *parameter_values(interpreter, taken, True), at)


def _only_raises(function: Function) -> bool:
    """An abstract forward."""
    body = [s for s in function.info.node.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    return bool(body) and all(isinstance(s, ast.Raise | ast.Pass) for s in body)


def entry_regions(interpreter: Interpreter, module: ModuleInfo, pattern: str) -> list[Region]:
    """The regions that an entry's NAME pattern names in this file: a factory's callable, a class or a function."""
    regions = []
    names = interpreter.module_names(module)
    for name, raw in list(names.items()):
        value = interpreter.resolve(raw)
        if not fnmatch(name, pattern) or isinstance(value, Namespace):
            continue
        if isinstance(value, Class) and value.info.module is module:
            region = _module_region(interpreter, value)
            if region is not None:
                regions.append(region)
        elif isinstance(value, Instance):
            forward = interpreter.attribute(value, "forward", ast.Constant(None), _outer(module))
            if isinstance(forward, Function):
                regions.append(enter(interpreter, name, value, *parameter_values(interpreter, forward, True)))
        elif isinstance(value, Function) and value.info.module is module:
            regions.extend(_function_entry(interpreter, value))
    return regions


def _function_entry(interpreter: Interpreter, function: Function) -> list[Region]:
    made = _factory_product(interpreter, function)
    if made is UNKNOWN:
        name = function.info.qualname
        return [Region(name, Activation(name, function.info.module, function.info.node.lineno))]
    if made is None:
        return [enter(interpreter, function.info.qualname, function, *parameter_values(interpreter, function, True))]
    target, args, kwargs = made
    of_library = isinstance(target, Instance | Function) and _home_of(target).library
    at = function.info.node if of_library else NOWHERE
    region = enter(interpreter, describe(target), target, args, kwargs, at)
    add_call_events(interpreter, function.info.module, target, region.activation)
    return [region]


def _home_of(target: Instance | Function) -> ModuleInfo:
    return target.info.module if isinstance(target, Function) else target.cls.info.module


def describe(target: Value) -> str:
    if isinstance(target, Instance):
        return f"{target.cls.info.qualname}.forward"
    return target.info.qualname if isinstance(target, Function) else target.describe()


def _factory_product(
    interpreter: Interpreter, function: Function
) -> tuple[Value, list[Value], dict[str, Value]] | Value | None:
    """(callable, args, kwargs) when the function is a factory that returns them, or a module alone; UNKNOWN when the source
    does not show what it makes; None for a function that makes none."""
    if function.info.node.args.args and not function.info.node.args.defaults:
        return None
    try:
        made = interpreter.call_function(function, [], {}, function.info.node, _outer(function.info.module))
    except (Raised, OutOfBudget):
        return None
    if isinstance(made, Instance):
        forward = interpreter.attribute(made, "forward", ast.Constant(None), _outer(function.info.module))
        return (made, *parameter_values(interpreter, forward, True)) if isinstance(forward, Function) else None
    if not isinstance(made, Sequence) or made.type != "tuple" or not made.items or len(made.items) > 3:
        return None
    target, rest = made.items[0], made.items[1:]
    if target is UNKNOWN and rest and all(value is UNKNOWN or isinstance(value, Sequence | Dict) for value in rest):
        return UNKNOWN
    if not isinstance(target, Function | Instance | ExternalInstance | Union | Sequence | External):
        return None
    if not rest or not isinstance(rest[0], Sequence):
        return None
    args = list(rest[0].items) if rest[0].items is not None else [rest[0].element]
    kwargs = rest[1].items if len(rest) > 1 and isinstance(rest[1], Dict) else {}
    return target, [as_argument(a) for a in args], {k: as_argument(v) for k, v in kwargs.items()}


def as_argument(value: Value) -> Value:
    """A factory's value as an argument of the region."""
    if isinstance(value, Tensor):
        return Tensor(value.dtype, value.ndim, None, True, value.kind, "argument", value.requires_grad)
    return value


def enter(
    interpreter: Interpreter,
    name: str,
    target: Value,
    args: list[Value],
    kwargs: dict[str, Value],
    at: ast.AST = NOWHERE,
) -> Region:
    """Interpret a region's call and keep what was seen, also when the work grows over the budget."""
    module = _home_of(target) if isinstance(target, Instance | Function) else interpreter.home
    if module.library:
        module = interpreter.home
    activation = Activation("", module, 0)
    frame = Frame(module, None, None, activation, True, 0, "")
    interpreter.begin_region(frame)
    try:
        interpreter.call_value(target, args, kwargs, at, frame)
    except (Raised, OutOfBudget, RecursionError) as problem:
        interpreter.cut_short = interpreter.cut_short or not isinstance(problem, Raised)
    interpreter.end_region()
    return Region(name, activation)


def _outer(module: ModuleInfo) -> Frame:
    return Frame(module, None, None, None, False, 0, "")
