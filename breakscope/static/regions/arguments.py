"""What a region is entered with: objects as some configuration makes them, parameters as
annotations and uses show."""

from __future__ import annotations

import ast
import re
from functools import partial

from msgspec.structs import replace

from breakscope import limits
from breakscope.rulekit.values import (
    CONFIG,
    NONE,
    UNKNOWN,
    Class,
    Const,
    Dict,
    External,
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
from breakscope.static.definitions.annotations import parsed_annotation, value_of_annotation
from breakscope.static.definitions.binding import defaults_of
from breakscope.static.definitions.classes import (
    MODULE_BASES,
    find_member,
    is_module_class,
    members_of,
    mro_of,
)
from breakscope.static.definitions.documented_types import (
    documented_tensors,
    with_documented_dtype,
)
from breakscope.static.machine.frames import Frame, OutOfBudget, Raised
from breakscope.static.machine.gaps import why
from breakscope.static.machine.lattice import element_of, join, join_all
from breakscope.static.machine.library import GIVEN_MODULE
from breakscope.static.machine.machine import Machine
from breakscope.static.project.modules import ClassInfo, FunctionInfo, ModuleInfo
from breakscope.static.regions.keywords import handed_keywords
from breakscope.static.regions.uses.bodies import OF_OTHERS, OF_SIZES, Usage, is_taken
from breakscope.static.regions.uses.sparse import as_sparse
from breakscope.static.variables.objects.construction import instantiate

# of what a call hands over, what says more than how the parameter is used
NUMBERS = (Py, ShapeInt)
# as the names of parameters that are no tensors end
OTHERS = tuple(
    "name names path _file filename url config cfg dtype device dataset tokenizer optimizer".split()
)
SIZES = ("shape", "shapes", "dims", "size", "sizes")
# how a constructor's parameter is called that is a data loader
LOADERS = ("dataloader", "data_loader")
# a text that is logged as with `logging`: others who are called `logger` keep figures
LOGGED = re.compile(rb"logger\.(?:debug|info|warning|error|critical)\(")
OBJECTS = (Instance, ExternalInstance, Tensor, Sequence, Dict, Function, Union)


def configured_instance(machine: Machine, cls: Class) -> Instance:
    """An object of a module class as some configuration would make it."""
    init = find_member(machine, cls.info, "__init__")
    args: list[Value] = []
    kwargs: dict[str, Value] = {}
    plain = undecorated(machine, cls.info, "__init__", init) if isinstance(init, Function) else init
    if isinstance(plain, Function) and isinstance(plain.info.node, ast.FunctionDef):
        spec = plain.info.node.args
        defaults = defaults_of(machine, plain.info, plain.scope)
        frame = Frame(plain.info.module, scope=plain.scope)
        for parameter in [*spec.posonlyargs, *spec.args][1:]:
            args.append(configured(machine, parameter, defaults.get(parameter.arg), frame))
        for parameter in spec.kwonlyargs:
            kwargs[parameter.arg] = configured(
                machine, parameter, defaults.get(parameter.arg), frame
            )
        if spec.kwarg:
            kwargs["**"] = CONFIG
    outside = Frame(cls.info.module)
    machine.objects.configuring = True
    try:
        made = instantiate(machine, cls, args, kwargs, cls.info.node, outside)
        # a decorator that is not understood
        if plain is not init and isinstance(made, Instance) and not made.attributes:
            machine.inline(replace(plain, bound=made), args, kwargs, cls.info.node, outside)
    except (Raised, OutOfBudget) as problem:
        if isinstance(problem, OutOfBudget):
            machine.give_up(why(problem), cls.info.node, outside, cls.info.qualname)
        made = Instance(cls)
        machine.objects.kept.append(made)
    finally:
        machine.objects.configuring = False
    return made if isinstance(made, Instance) else Instance(cls)


def opened_flags(machine: Machine, made: Instance) -> bool:
    """Leave open what the region read of an object that only raises when it is called as it was
    made: then some code prepares it first. False where it read nothing that could be otherwise."""
    names = [
        name
        for owner, name in machine.region.reads
        if owner == id(made)
        and isinstance(value := made.attributes.get(name), Const)
        and not value.value
    ]
    made.version += 1  # nothing that was found for it as it was holds any more
    made.attributes.update({name: opened(made.attributes[name]) for name in names})
    return bool(names)


def undecorated(machine: Machine, info: ClassInfo, name: str, member: Function) -> Function:
    """The function that a method's `def` makes, whatever a decorator puts around it."""
    owner = next((c for c in mro_of(machine, info) if name in members_of(c)), info)
    original = members_of(owner).get(name)
    if not isinstance(original, ast.FunctionDef) or original is member.info.node:
        return member
    return Function(
        machine.function_info(owner.module, original, owner.qualname, owner),
        member.bound,
        owner.scope,
    )


def configured(machine: Machine, parameter: ast.arg, default: Value | None, frame: Frame) -> Value:
    """What a constructor's parameter may be: of its default's or annotation's type, decided by
    configuration."""
    if isinstance(default, Class):
        return default  # whatever the annotation makes of a class that is handed over
    annotated = value_of_annotation(machine, parameter.annotation, frame)
    is_open = default is None or default.is_none
    if is_open and _is_module(machine, parameter.annotation, frame):
        annotated = ExternalInstance(GIVEN_MODULE, sure=False)
    if isinstance(default, Const) and not default.is_none and _is_asked_for(frame, parameter.arg):
        return Py("unknown", "config", default.value)  # of its type, or None
    if isinstance(annotated, Py):
        if _is_none(default):
            return CONFIG  # as `Optional[int]` is: the type alone does not say that it may be None
        return Py(annotated.type, "config", default.value if isinstance(default, Const) else None)
    if _is_one_kind_of(machine, default, annotated):
        return join(default, annotated)
    if isinstance(annotated, Tensor | Instance | ExternalInstance | Sequence | Dict):
        return join(annotated, NONE) if _is_none(default) else annotated
    if type(annotated) is Union and all(
        option.is_none or isinstance(option, Instance | ExternalInstance)
        for option in annotated.options
    ):
        return annotated
    if default is not None:
        is_optional = type(annotated) is Union and any(o.is_none for o in annotated.options)
        if is_optional and isinstance(default, Const) and not default.is_none:
            return Py("unknown", "config", default.value)  # of its type, or None
        return opened(default)
    if parameter.arg.endswith(LOADERS):
        return ExternalInstance("torch.utils.data.DataLoader", sure=False)
    if parameter.arg.endswith("logger") and LOGGED.search(frame.module.text):
        return ExternalInstance("logging.Logger", sure=False)
    return CONFIG


def _is_module(machine: Machine, annotation: ast.expr | None, frame: Frame) -> bool:
    """True for `nn.Module`, and `nn.Module | None`."""
    match annotation:
        case ast.BinOp(left, ast.BitOr(), ast.Constant(None)):
            annotation = left
        case ast.Subscript(ast.Name("Optional"), inner):
            annotation = inner
        case ast.Constant(str(text)):
            annotation = parsed_annotation(text)
    if type(annotation) not in (ast.Name, ast.Attribute):
        return False
    named = machine.eval(annotation, frame)
    return type(named) is External and named.name in MODULE_BASES


def _is_one_kind_of(machine: Machine, default: Value | None, annotated: Value) -> bool:
    """True for an object of a class that derives from the annotated one, which may only announce."""
    if type(default) is not Instance or type(annotated) is not Instance:
        return False
    return annotated.cls.info in mro_of(machine, default.cls.info)[1:]


def _is_asked_for(frame: Frame, name: str) -> bool:
    """True where the module asks whether what has the parameter's name is None."""
    asked = name.encode() + b" is "
    text = frame.module.text
    return asked in text and (asked + b"None" in text or asked + b"not None" in text)


def opened(default: Value) -> Value:
    """A default that configuration may replace by another value of its type."""
    if isinstance(default, Const):
        return (
            CONFIG
            if default.value is None
            else Py(type(default.value).__name__, "config", default.value)
        )
    if isinstance(default, Sequence):
        return Sequence(
            default.type, None, opened(element_of(default)) if default.items != [] else CONFIG
        )
    if isinstance(default, Dict):
        return Dict({}, open=True)
    return default


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
    positional = [*spec.posonlyargs, *spec.args]
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
        if isinstance(handed, OBJECTS) and not _is_annotated(machine, parameter, frame):
            return join(handed, NONE) if _is_none(default) else handed
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


def _is_none(default: Value | None) -> bool:
    return default is not None and default.is_none


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
    spec, frame = (
        function.info.node.args,
        Frame(function.info.module, scope=function.scope),
    )
    return any(
        p.annotation is None or maybe_tensor(value_of_annotation(machine, p.annotation, frame))
        for p in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)
        if p.arg in names
    )
