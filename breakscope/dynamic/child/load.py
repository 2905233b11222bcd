"""From FILE::NAME to something that can be called: a callable with its arguments."""

from __future__ import annotations

import difflib
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
    while root.name and (root / "__init__.py").is_file():
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
    for number, part in enumerate(name.split(".")):
        if not hasattr(thing, part):
            defined = [
                n
                for n, v in vars(thing).items()
                if callable(v)
                and not n.startswith("_")
                and getattr(v, "__module__", "") == module.__name__
            ]
            owner = name.split(".")[:number]
            near = difflib.get_close_matches(part, defined, n=3)
            hint = f"; nearest: {', '.join('.'.join([*owner, n]) for n in near)}" if near else ""
            if defined and not near:
                more = f" and {len(defined) - 8} more" if len(defined) > 8 else ""
                hint = f"; it defines {', '.join(defined[:8])}{more}"
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
    elif inspect.iscoroutinefunction(thing) or inspect.isgeneratorfunction(thing):
        kind = "an async" if inspect.iscoroutinefunction(thing) else "a generator"
        raise TargetError(f"{name} is {kind} function, so a call of it runs nothing")
    elif required_arguments(thing):
        target = Target(thing)
    else:
        target = _from_factory(thing, name)
    from_factory = target.function is not thing and not isinstance(thing, type)
    target = Target(_without_compile(target.function), target.args, target.kwargs)
    if not has_inputs:
        _refuse_other_arguments(target, thing, name, from_factory)
    return target


def _refuse_other_arguments(target: Target, thing: Any, name: str, from_factory: bool) -> None:
    """Raise TargetError where the arguments are not those that the callable takes."""
    entry = _entry(target.function)
    missing = required_arguments(entry)
    if not target.args and not target.kwargs and missing:
        if from_factory:
            raise TargetError(
                f"{name}() returns no inputs, and what it returned needs some ({', '.join(missing)}): let it "
                f"`return model, ({', '.join(missing)},), {{}}`, or give --calls or --drive"
            )
        raise TargetError(
            f"{name} needs arguments ({', '.join(missing)}): write a factory "
            f"`def make(): return {_example(thing, name)}, (inputs,), {{}}` and name it, or give --calls or --drive"
        )
    try:
        # what a decorator takes may be other than what it passes on
        signature = inspect.signature(entry, follow_wrapped=False)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(*target.args, **target.kwargs)
    except TypeError as problem:
        raise TargetError(
            f"{name}() returned arguments that do not fit `{entry.__name__}{_shown(signature)}`: {problem}"
        ) from None


def _shown(signature: inspect.Signature) -> str:
    """Its names, without annotations and values."""
    plain = [p.replace(annotation=p.empty) for p in signature.parameters.values()]
    return str(signature.replace(parameters=plain, return_annotation=signature.empty))


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

    if (
        isinstance(function, torch.nn.Module)
        and type(function).__call__ is torch.nn.Module.__call__
    ):
        return function.forward
    return function


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
    from torch.utils import _pytree as pytree

    made = function()
    if isinstance(made, tuple) and made and _is_code(made[0]):
        rest = made[1:]
        if not rest:
            return Target(made[0])
        if isinstance(rest[0], (tuple, list)) and len(rest) == 1:
            return Target(made[0], tuple(rest[0]))
        if isinstance(rest[0], (tuple, list)) and len(rest) == 2 and isinstance(rest[1], dict):
            return Target(made[0], tuple(rest[0]), dict(rest[1]))
        raise _other_shape(name, made)
    if _is_code(made):
        return Target(made)
    if any(isinstance(leaf, torch.nn.Module) for leaf in pytree.tree_leaves(made)):
        raise _other_shape(name, made)
    return Target(function)


def _is_code(made: Any) -> bool:
    import torch

    return callable(made) and not isinstance(made, torch.Tensor)


def _other_shape(name: str, made: Any) -> TargetError:
    import torch

    def shown(part: Any) -> str:
        return "Tensor" if isinstance(part, torch.Tensor) else type(part).__name__

    shape = f"({', '.join(map(shown, made))})" if isinstance(made, tuple) else f"a {shown(made)}"
    return TargetError(
        f"{name}() returned {shape}; a factory returns (callable, args, kwargs), args a tuple: "
        "`return model, (x,), {}`"
    )


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
