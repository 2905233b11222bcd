"""Arguments for a function or a method that no target calls, where they can be guessed.

Tensors get one shape out of a few, the first that the function takes without an exception; what is
annotated as a number or has a default needs no guess. A class is constructed without arguments.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import ModuleType
from typing import Any

import torch

from breakscope.dynamic.child import tensors
from breakscope.dynamic.child.load import TargetError, look_up, required_arguments
from breakscope.texts import exception_text

FACTORY = "__breakscope_guess__"
SHAPES = ((2, 4), (2, 3, 4), (4,), (2, 3, 8, 8), (), (2, 8), (2, 16), (2, 3, 16))
PLAIN = {"int": 2, "float": 0.5, "bool": True, "str": "mean"}
NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
Way = tuple[int, bool]


def plant(module: ModuleType, function: str, way: Way | None) -> Way:
    """Give the module a factory, FACTORY, that makes the function with its arguments; `way` says
    with which, None to try. Raises TargetError when nothing can be guessed."""
    ways = (
        [way]
        if way
        else [(shape, whole) for whole in (False, True) for shape in range(len(SHAPES))]
    )
    problem = ""
    for one in ways:
        setattr(module, FACTORY, lambda one=one: _made(module, function, one))
        if way:
            return one
        try:
            tensors.seed_everything()
            made, args, kwargs = _made(module, function, one)
            with torch.compiler.set_stance("force_eager"):
                made(*args, **kwargs)
            return one
        except TargetError:
            raise
        except Exception as error:  # the user's code refuses it
            problem = problem or exception_text(error)
    raise TargetError(f"the arguments of `{function}` cannot be guessed ({problem})")


def shown(way: Way) -> str:
    """What was guessed, in words."""
    kind = "integer" if way[1] else "float32"
    return f"every tensor was guessed as {kind} of the shape {list(SHAPES[way[0]])}"


def _made(module: ModuleType, function: str, way: Way) -> tuple[Callable, tuple, dict]:
    called = _callable(module, function)
    target = called.forward if isinstance(called, torch.nn.Module) else called
    kwargs = {}
    for parameter in inspect.signature(target).parameters.values():
        if parameter.default is parameter.empty and parameter.kind in NAMED:
            kwargs[parameter.name] = _value(parameter, way)
    return called, (), kwargs


def _value(parameter: inspect.Parameter, way: Way) -> Any:
    note = parameter.annotation
    name = note if isinstance(note, str) else getattr(note, "__name__", "")
    if name in PLAIN:
        return PLAIN[name]
    shape = SHAPES[way[0]]
    if way[1]:
        return torch.randint(0, 4, shape)
    return torch.randn(shape, requires_grad=True)


def _callable(module: ModuleType, function: str) -> Callable:
    owner, _, name = function.rpartition(".")
    if not owner:
        return look_up(module, function)
    cls = look_up(module, owner)
    if not isinstance(cls, type):
        raise TargetError(f"`{function}` is defined inside of a function")
    missing = required_arguments(cls)
    if missing:
        raise TargetError(f"`{owner}` needs arguments ({', '.join(missing)})")
    made = cls()
    return made if name == "forward" and isinstance(made, torch.nn.Module) else getattr(made, name)
