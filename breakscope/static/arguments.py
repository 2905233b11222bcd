"""What a region is entered with: objects as some configuration makes them, parameters as annotations and uses tell."""

from __future__ import annotations

import ast

from msgspec.structs import replace

from breakscope.static.frames import Frame, OutOfBudget, Raised
from breakscope.static.interpreter import Interpreter
from breakscope.static.joins import element_of, join
from breakscope.static.modules import ClassInfo, function_info
from breakscope.values import (
    NONE,
    UNKNOWN,
    Class,
    Const,
    Dict,
    Function,
    Instance,
    Py,
    Sequence,
    Tensor,
    Value,
    maybe_tensor,
)
from breakscope.walking import walk

CONFIG = Py("unknown", "config")


def configured_instance(interpreter: Interpreter, cls: Class) -> Instance:
    """An object of a module class as some configuration would make it."""
    init = interpreter.find_member(cls.info, "__init__")
    args: list[Value] = []
    kwargs: dict[str, Value] = {}
    plain = undecorated(interpreter, cls.info, "__init__", init) if isinstance(init, Function) else init
    if isinstance(plain, Function) and isinstance(plain.info.node, ast.FunctionDef):
        spec = plain.info.node.args
        defaults = interpreter.defaults(plain.info, plain.scope)
        frame = Frame(plain.info.module, None, plain.scope, None, False, 0, "")
        for parameter in [*spec.posonlyargs, *spec.args][1:]:
            args.append(configured(interpreter, parameter, defaults.get(parameter.arg), frame))
        for parameter in spec.kwonlyargs:
            kwargs[parameter.arg] = configured(interpreter, parameter, defaults.get(parameter.arg), frame)
        if spec.kwarg:
            kwargs["**"] = CONFIG
    outside = Frame(cls.info.module, None, None, None, False, 0, "")
    try:
        made = interpreter.instantiate(cls, args, kwargs, cls.info.node, outside)
        if plain is not init and isinstance(made, Instance) and not made.attributes:  # a decorator that is not understood
            interpreter.call_function(replace(plain, bound=made), args, kwargs, cls.info.node, outside)
    except (Raised, RecursionError, OutOfBudget):
        made = Instance(cls)
        interpreter.kept.append(made)
    return made if isinstance(made, Instance) else Instance(cls)


def undecorated(interpreter: Interpreter, info: ClassInfo, name: str, member: Function) -> Function:
    """The function that a method's `def` makes, whatever a decorator puts around it."""
    owner = next((c for c in interpreter.mro(info) if name in interpreter.members(c)), info)
    original = interpreter.members(owner).get(name)
    if not isinstance(original, ast.FunctionDef) or original is member.info.node:
        return member
    return Function(function_info(owner.module, original, owner.qualname, owner), member.bound, owner.scope)


def configured(interpreter: Interpreter, parameter: ast.arg, default: Value | None, frame: Frame) -> Value:
    """What a constructor's parameter may be: of its default's or annotation's type, decided by configuration."""
    annotated = interpreter.value_of_annotation(parameter.annotation, frame)
    if isinstance(annotated, Py):
        return Py(annotated.type, "config", default.value if isinstance(default, Const) else None)
    if isinstance(annotated, Tensor | Instance | Sequence | Dict):
        return annotated
    if default is not None:
        return opened(default)
    return CONFIG


def opened(default: Value) -> Value:
    """A default that configuration may replace by another value of its type."""
    if isinstance(default, Const):
        return CONFIG if default.value is None else Py(type(default.value).__name__, "config", default.value)
    if isinstance(default, Sequence):
        return Sequence(default.type, None, opened(element_of(default)) if default.items != [] else CONFIG)
    return default


def parameter_values(
    interpreter: Interpreter, function: Function, is_forward: bool
) -> tuple[list[Value], dict[str, Value]]:
    """What a region's parameters are, from annotations, defaults and how the body uses them."""
    info = function.info
    spec = info.node.args
    positional = [*spec.posonlyargs, *spec.args]
    if function.bound is not None:
        positional = positional[1:]
    frame = Frame(info.module, None, function.scope, None, False, 0, "")
    defaults = interpreter.defaults(info, function.scope)
    body = Usage(info.node)
    args = [parameter_value(interpreter, p, defaults.get(p.arg), body, frame, is_forward) for p in positional]
    kwargs = {
        p.arg: parameter_value(interpreter, p, defaults.get(p.arg), body, frame, is_forward) for p in spec.kwonlyargs
    }
    if spec.vararg:
        kwargs["*"] = interpreter.value_of_annotation(spec.vararg.annotation, frame)
    if spec.kwarg:
        kwargs["**"] = UNKNOWN
    return args, kwargs


def parameter_value(
    interpreter: Interpreter,
    parameter: ast.arg,
    default: Value | None,
    body: Usage,
    frame: Frame,
    is_forward: bool,
) -> Value:
    annotated = interpreter.value_of_annotation(parameter.annotation, frame)
    tensor = Tensor(sure=False, origin="argument")
    if not annotated.is_unknown:
        if default is not None and default.is_none and not any(o.is_none for o in getattr(annotated, "options", ())):
            return join(annotated, NONE)
        return annotated
    if isinstance(default, Const) and default.value is not None:
        return Py(type(default.value).__name__, "argument")
    if default is not None and not default.is_none:
        return default
    library, used = interpreter.library, body.of(parameter.arg)
    looks_like_tensor = bool(used & library.tensor_only) and not used - library.tensor_names
    if default is not None:
        return join(NONE, tensor) if looks_like_tensor else Py("unknown", "argument")
    if looks_like_tensor:
        return tensor
    if parameter.annotation is None and is_forward and not used - library.tensor_names:
        return tensor
    return UNKNOWN


def takes_tensors(interpreter: Interpreter, function: Function, names: frozenset[str]) -> bool:
    """True when one of these parameters is annotated as a tensor."""
    if not names:
        return False
    spec, frame = function.info.node.args, Frame(function.info.module, None, function.scope, None, False, 0, "")
    return any(
        maybe_tensor(interpreter.value_of_annotation(p.annotation, frame))
        for p in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)
        if p.arg in names and p.annotation is not None
    )


class Usage:
    """How a function's body uses its parameters, looked up when one has neither annotation nor default."""

    def __init__(self, node: ast.AST) -> None:
        self.node = node
        self.names: dict[str, frozenset[str]] | None = None

    def of(self, name: str) -> frozenset[str]:
        if self.names is None:
            self.names = usage(self.node)
        return self.names.get(name, frozenset())


def usage(node: ast.AST) -> dict[str, frozenset[str]]:
    """For each name, the attributes that the function reads of it; "()" when it is called, "[str]" for string keys,
    "for" when it is unpacked or iterated as a whole."""
    found: dict[str, set[str]] = {}
    for part in walk(node):
        if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name):
            found.setdefault(part.value.id, set()).add(part.attr)
        elif isinstance(part, ast.Call) and isinstance(part.func, ast.Name):
            found.setdefault(part.func.id, set()).add("()")
            if part.func.id in ("isinstance", "range") and part.args and isinstance(part.args[0], ast.Name):
                found.setdefault(part.args[0].id, set()).add(part.func.id)
        elif (
            isinstance(part, ast.Subscript)
            and isinstance(part.value, ast.Name)
            and isinstance(part.slice, ast.Constant)
            and isinstance(part.slice.value, str)
        ):
            found.setdefault(part.value.id, set()).add("[str]")
    return {name: frozenset(attributes) for name, attributes in found.items()}
