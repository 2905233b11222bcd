"""From FILE::NAME to something that can be called: a callable with its arguments."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any


class TargetError(Exception):
    """The target is not one that can be run; the message has what to write instead."""


@dataclass(frozen=True)
class Target:
    """What the user pointed at. `model` is the object that `drive` receives, `function` what is
    compiled."""

    function: Callable
    args: tuple = ()
    kwargs: dict[str, Any] = field(default_factory=dict)


def load_file(path: Path) -> ModuleType:
    """Import a file as if its folder (or, in a package, the folder above the package) were on
    sys.path."""
    root, parts = path.parent, [path.stem]
    while (root / "__init__.py").is_file():
        parts.insert(0, root.name)
        root = root.parent
    sys.path.insert(0, str(root))
    name = ".".join(parts)
    if len(parts) > 1:
        return importlib.import_module(name)
    if name in sys.modules or name in sys.stdlib_module_names or not name.isidentifier():
        name = "target_" + "".join(c if c.isalnum() else "_" for c in name)
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise TargetError(f"{path.name} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def look_up(module: ModuleType, name: str, role: str = "") -> Any:
    """The object called `name` (dots allowed) in the loaded file."""
    thing: Any = module
    for part in name.split("."):
        if not hasattr(thing, part):
            known = [
                n
                for n, v in vars(module).items()
                if callable(v)
                and not n.startswith("_")
                and getattr(v, "__module__", "") == module.__name__
            ]
            hint = f"; it defines {', '.join(known[:8])}" if known else ""
            raise TargetError(f"{Path(module.__file__ or '').name} defines no {name}{role}{hint}")
        thing = getattr(thing, part)
    return thing


def resolve(module: ModuleType, name: str, has_inputs: bool) -> Target:
    """Build the target afresh. `has_inputs`: the calls come from --calls or --drive, so no
    arguments are needed.

    A class is constructed without arguments. A function without required arguments is called: when
    it returns `(callable, args, kwargs)`, `(callable, args)`, a module or a function it is a
    factory, otherwise it is itself the code to compile.
    """
    import torch

    thing = look_up(module, name)
    if isinstance(thing, type):
        target = Target(_construct(thing, name))
    elif isinstance(thing, torch.nn.Module):
        target = Target(thing)
    elif not callable(thing):
        raise TargetError(
            f"{name} is of type {type(thing).__name__}; name an nn.Module class, a function or a factory"
        )
    elif required_arguments(thing):
        target = Target(thing)
    else:
        target = _from_factory(thing, name)
    target = Target(_without_compile(target.function), target.args, target.kwargs)
    if not has_inputs and not target.args and not target.kwargs:
        missing = required_arguments(_entry(target.function))
        if missing:
            raise TargetError(
                f"{name} needs arguments ({', '.join(missing)}): write a factory "
                f"`def make(): return {_example(thing, name)}, (inputs,), {{}}` and name it, or give --calls or --drive"
            )
    return target


def required_arguments(function: Callable) -> list[str]:
    """The names of the parameters that a call must give; nothing when the signature is unknown."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [p.name for p in parameters if p.default is p.empty and p.kind not in variadic]


def _entry(function: Callable) -> Callable:
    import torch

    return function.forward if isinstance(function, torch.nn.Module) else function


def _example(thing: Any, name: str) -> str:
    return f"{name}()" if isinstance(thing, type) else name


def _construct(cls: type, name: str) -> Any:
    import torch

    if not issubclass(cls, torch.nn.Module):
        raise TargetError(
            f"{name} is a class but no nn.Module; name a module, a function or a factory"
        )
    missing = required_arguments(cls)
    if missing:
        raise TargetError(
            f"{name}() needs arguments ({', '.join(missing)}): write a factory "
            f"`def make(): return {name}(...), (inputs,), {{}}` and name it"
        )
    return cls()


def _from_factory(function: Callable, name: str) -> Target:
    import torch

    made = function()
    if (
        isinstance(made, tuple)
        and made
        and callable(made[0])
        and not isinstance(made[0], torch.Tensor)
    ):
        rest = made[1:]
        if not rest:
            return Target(made[0])
        if isinstance(rest[0], (tuple, list)) and len(rest) == 1:
            return Target(made[0], tuple(rest[0]))
        if isinstance(rest[0], (tuple, list)) and len(rest) == 2 and isinstance(rest[1], dict):
            return Target(made[0], tuple(rest[0]), dict(rest[1]))
        shape = ", ".join(type(part).__name__ for part in made)
        raise TargetError(
            f"{name}() returned ({shape}); a factory returns (callable, args, kwargs), args a tuple"
        )
    if isinstance(made, torch.nn.Module) or inspect.isroutine(made):
        return Target(made)
    return Target(function)


def _without_compile(function: Callable) -> Callable:
    """What the user's own torch.compile wrapped: the run compiles it again with the backend of
    its options."""
    inner = getattr(function, "_orig_mod", None) or getattr(
        function, "_torchdynamo_orig_callable", None
    )
    return inner if callable(inner) else function


def argument_tuples(module: ModuleType, name: str) -> list[tuple[tuple, dict]]:
    """The calls that the user's function `name` lists, as (args, kwargs)."""
    listed = look_up(module, name, " for --calls")()
    try:
        items = list(listed)
    except TypeError:
        raise TargetError(
            f"{name}() must return a list of argument tuples, not {type(listed).__name__}"
        ) from None
    calls = []
    for item in items:
        if (
            isinstance(item, tuple)
            and len(item) == 2
            and isinstance(item[0], tuple)
            and isinstance(item[1], dict)
        ):
            calls.append((item[0], item[1]))
        else:
            calls.append((tuple(item) if isinstance(item, (tuple, list)) else (item,), {}))
    if not calls:
        raise TargetError(f"{name}() lists no calls")
    return calls
