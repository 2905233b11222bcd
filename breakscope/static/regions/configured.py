"""Objects of module classes as some configuration would make them."""

from __future__ import annotations

import ast
import re

from msgspec.structs import replace

from breakscope.rulekit.values import (
    CONFIG,
    NONE,
    Class,
    Const,
    Dict,
    External,
    ExternalInstance,
    Function,
    Instance,
    Py,
    Sequence,
    Tensor,
    Union,
    Value,
)
from breakscope.rulekit.walking import positional_parameters
from breakscope.static.definitions.annotations import parsed_annotation, value_of_annotation
from breakscope.static.definitions.binding import defaults_of
from breakscope.static.definitions.classes import MODULE_BASES, find_member, members_of, mro_of
from breakscope.static.machine.frames import Frame, OutOfBudget, Raised
from breakscope.static.machine.gaps import why
from breakscope.static.machine.lattice import element_of, join
from breakscope.static.machine.library import GIVEN_MODULE
from breakscope.static.machine.machine import Machine
from breakscope.static.project.modules import ClassInfo
from breakscope.static.variables.objects.construction import instantiate

# how a constructor's parameter is called that is a data loader
LOADERS = ("dataloader", "data_loader")
# a text that is logged as with `logging`: others who are called `logger` keep figures
LOGGED = re.compile(rb"logger\.(?:debug|info|warning|error|critical)\(")


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
        for parameter in positional_parameters(plain.info.node)[1:]:
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
        if is_left_out(default):
            return CONFIG  # as `Optional[int]` is: the type alone does not say that it may be None
        return Py(annotated.type, "config", default.value if isinstance(default, Const) else None)
    if _is_one_kind_of(machine, default, annotated):
        return join(default, annotated)
    if isinstance(annotated, Tensor | Instance | ExternalInstance | Sequence | Dict):
        return join(annotated, NONE) if is_left_out(default) else annotated
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


def is_left_out(default: Value | None) -> bool:
    return default is not None and default.is_none
