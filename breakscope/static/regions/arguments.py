"""What a region is entered with: objects as some configuration makes them, parameters as
annotations and uses show."""

from __future__ import annotations

import ast
import re
from functools import partial

from breakscope import limits
from breakscope.rulekit.values import (
    NONE,
    UNKNOWN,
    Const,
    Dict,
    ExternalInstance,
    Function,
    Instance,
    Py,
    Scalar,
    Sequence,
    ShapeInt,
    Tensor,
    Union,
    Value,
    maybe_tensor,
    options,
)
from breakscope.rulekit.walking import plain_parameters, positional_parameters
from breakscope.static.definitions.annotations import value_of_annotation
from breakscope.static.definitions.binding import defaults_of
from breakscope.static.definitions.classes import is_module_class
from breakscope.static.definitions.documented_types import documented_tensors, with_documented_dtype
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.lattice import join, join_all
from breakscope.static.machine.machine import Machine
from breakscope.static.project.modules import FunctionInfo, ModuleInfo
from breakscope.static.regions.configured import configured_instance, is_left_out, opened
from breakscope.static.regions.keywords import handed_keywords
from breakscope.static.regions.uses.bodies import OF_OTHERS, OF_SIZES, Usage, is_taken
from breakscope.static.regions.uses.sparse import as_sparse

# of what a call hands over, what says more than how the parameter is used
NUMBERS = (Py, ShapeInt)
ARGUMENT = (
    "argument "  # before the name of a parameter, as the home of an iterator that is handed over
)
# as the names of parameters that are no tensors end
OTHERS = tuple(
    "name names path _file filename url config cfg dtype device dataset tokenizer optimizer".split()
)
SIZES = ("shape", "shapes", "dims", "size", "sizes")
OBJECTS = (Instance, ExternalInstance, Tensor, Sequence, Dict, Function, Union)


def parameter_values(
    machine: Machine,
    function: Function,
    is_forward: bool,
    given: dict[str, Value] | None = None,
    deep: int = limits.DEEPEST_TENSOR_SEARCH,
) -> tuple[list[Value], dict[str, Value]]:
    """What a region's parameters are, from annotations, what the program itself hands over,
    defaults and how the body uses them."""
    info = function.info
    spec = info.node.args
    positional = positional_parameters(info.node)
    if function.bound is not None:
        positional = positional[1:]
    frame = Frame(info.module, scope=function.scope)
    defaults = defaults_of(machine, info, function.scope)
    body, given, library = Usage(info), given or {}, machine.library

    def value(parameter: ast.arg) -> Value:
        default, handed = defaults.get(parameter.arg), given.get(parameter.arg, UNKNOWN)
        if isinstance(default, Sequence | Dict) and _is_handed_on(info.module, parameter.arg):
            default = opened(default)
        found = parameter_value(machine, parameter, default, body, frame, is_forward, info)
        if is_taken(machine, function, parameter.arg, body, Usage.is_sparse):
            # a package's own sparse matrices have names that no tensor has
            if not any(map(str.isidentifier, body.of(parameter.arg) - library.tensor_methods)):
                found = as_sparse(found, default)
        if made := as_made_before(handed, parameter.arg):
            return made
        if isinstance(handed, OBJECTS) and not _is_annotated(machine, parameter, frame):
            return join(handed, NONE) if is_left_out(default) else handed
        if type(found) is not Tensor or found.origin != "guess":
            return found
        if isinstance(handed, NUMBERS):
            return handed
        is_other = any(
            is_taken(machine, function, parameter.arg, body, shows) for shows in OF_OTHERS
        )
        return UNKNOWN if is_other else found

    args = [value(p) for p in positional]
    kwargs = {p.arg: value(p) for p in spec.kwonlyargs}
    if spec.vararg:
        kwargs["*"] = value_of_annotation(machine, spec.vararg.annotation, frame)
    if spec.kwarg:
        kwargs["**"] = UNKNOWN
        if is_forward and deep:
            inner = partial(parameter_values, machine, is_forward=True, deep=deep - 1)
            kwargs = handed_keywords(machine, function, spec.kwarg.arg, inner) | kwargs
    return args, kwargs


def _is_handed_on(module: ModuleInfo, name: str) -> bool:
    """True where some call of the file passes a variable of a parameter's name: a list that several
    functions fill in turn is the caller's, and the default is seldom used."""
    return re.search(rb"[(,=]\s*%s\s*[,)]" % name.encode(), module.text) is not None


def _is_annotated(machine: Machine, parameter: ast.arg, frame: Frame) -> bool:
    return not value_of_annotation(machine, parameter.annotation, frame).is_unknown


def as_argument(value: Value) -> Value:
    """A value that some call hands over, as an argument of the region: other calls hand over other
    sizes and numbers. What was read from a tensor is a plain number there."""
    if type(value) is Scalar:
        return Py(value.type, "argument")
    if isinstance(value, Sequence | Dict) and _holds_scalars(value):
        return value.rebuilt(as_argument)
    if isinstance(value, Tensor):
        return Tensor(
            value.dtype, value.ndim, None, True, value.kind, "argument", value.requires_grad
        )
    return value


def _holds_scalars(value: Value) -> bool:
    if isinstance(value, Sequence | Dict):
        items = value.items.values() if isinstance(value, Dict) else value.items or ()
        return any(map(_holds_scalars, (*items, value.element)))
    return type(value) is Scalar


def as_made_before(value: Value, parameter: str) -> Sequence | None:
    """An iterator, a generator or a view of a dict that a call hands over: it was made before the region."""
    if type(value) is not Sequence or not (value.is_once or value.type == "generator"):
        return None
    return Sequence(
        value.type, value.items, value.element, home=f"{ARGUMENT}{parameter}", is_once=True
    )


def as_any_argument(value: Value) -> Value:
    """The same of what containers hold, and of numbers and texts, which the next call may change."""
    if isinstance(value, Sequence | Dict):
        return value.rebuilt(as_any_argument)
    if isinstance(value, Const) and value.value is not None:
        return Py(type(value.value).__name__, "argument")
    return as_argument(value)


def parameter_value(
    machine: Machine,
    parameter: ast.arg,
    default: Value | None,
    body: Usage,
    frame: Frame,
    is_forward: bool,
    info: FunctionInfo,
) -> Value:
    annotated = value_of_annotation(machine, parameter.annotation, frame)
    annotated = with_documented_dtype(as_filled(machine, annotated), info, parameter.arg)
    tensor = Tensor(sure=False, origin="guess")
    if info.module.library and isinstance(default, Const) and type(default.value) is bool:
        return default  # who calls a model by a forward that it inherits leaves its flags
    if not annotated.is_unknown:
        if (
            default is not None
            and default.is_none
            and not any(o.is_none for o in getattr(annotated, "options", ()))
        ):
            return join(annotated, NONE)
        return annotated
    if isinstance(default, Const) and default.value is not None:
        return Py(type(default.value).__name__, "argument")
    if default is not None and not default.is_none:
        return default
    library, used = machine.library, body.of(parameter.arg)
    documented = documented_tensors(info).get(parameter.arg)
    if documented is not None and parameter.annotation is None:
        return documented if default is None else join(documented, NONE)
    looks_like_tensor = bool(used & library.tensor_only) and not used - library.tensor_names
    if default is not None:
        return join(NONE, tensor) if looks_like_tensor else Py("unknown", "argument")
    if looks_like_tensor:
        return tensor
    if not (of_training := library.used_as(used, body.bare(parameter.arg))).is_unknown:
        return of_training
    if parameter.annotation is not None or not is_forward or used - library.tensor_names:
        return UNKNOWN
    is_other = parameter.arg.endswith(OTHERS) or body.is_documented_as_other(parameter.arg)
    is_other = is_other or (parameter.arg.endswith(SIZES) and used <= OF_SIZES)
    is_other = is_other or body.is_chosen_by(parameter.arg) or body.is_flag(parameter.arg)
    return UNKNOWN if is_other else tensor


def as_filled(machine: Machine, annotated: Value) -> Value:
    """The same with objects of module classes that have their parts, as configuration makes them."""
    found = [
        _filled(machine, option) if isinstance(option, Instance) else option
        for option in options(annotated)
    ]
    return annotated if found == list(options(annotated)) else join_all(found)


def _filled(machine: Machine, annotated: Instance) -> Instance:
    cls = annotated.cls
    if not machine.objects.is_annotated(annotated) or not is_module_class(machine, cls.info):
        return annotated
    filled = machine.objects.filled
    if id(cls.info) not in filled:
        filled[id(cls.info)] = annotated  # for a constructor that takes one of its own class
        made = configured_instance(machine, cls)
        filled[id(cls.info)] = made
        machine.objects.kept.append(made)
    return filled[id(cls.info)]


def takes_tensors(machine: Machine, function: Function, names: frozenset[str]) -> bool:
    """True when one of these parameters may be a tensor: by its annotation, or without one."""
    if not names:
        return False
    frame = Frame(function.info.module, scope=function.scope)
    return any(
        p.annotation is None or maybe_tensor(value_of_annotation(machine, p.annotation, frame))
        for p in plain_parameters(function.info.node)
        if p.arg in names
    )
