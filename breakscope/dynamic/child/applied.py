"""Settings that a run tries: Dynamo's switches, what `torch.compile` is given, dimensions of
arguments that are marked."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch._dynamo

from breakscope.dynamic.child.load import TargetError


def apply(settings: Sequence[dict]) -> None:
    """Set the switches; raises TargetError where this torch has no such one."""
    for setting in settings:
        name = setting["switch"] or setting["collection"]
        if not name:
            continue
        if not hasattr(torch._dynamo.config, name):
            raise TargetError(f"torch {torch.__version__} has no torch._dynamo.config.{name}")
        if setting["switch"]:
            setattr(torch._dynamo.config, name, True)
        else:
            getattr(torch._dynamo.config, name).add(_named(setting["member"]))


def compile_arguments(settings: Sequence[dict]) -> dict[str, Any]:
    """What `torch.compile` is given besides its function and backend."""
    return {"dynamic": True} if any(setting["dynamic"] for setting in settings) else {}


def marking(compiled: Callable, target: Callable, settings: Sequence[dict]) -> Callable:
    """The compiled function with dimensions of its arguments marked before each call."""
    marked = {s["argument"]: list(s["dimensions"]) for s in settings if s["argument"]}
    if not marked:
        return compiled
    entry = target.forward if isinstance(target, torch.nn.Module) else target
    signature = inspect.signature(entry)

    def call(*args: Any, **kwargs: Any) -> Any:
        given = signature.bind(*args, **kwargs).arguments
        for name, dimensions in marked.items():
            if isinstance(given.get(name), torch.Tensor):
                torch._dynamo.mark_dynamic(given[name], dimensions)
        return compiled(*args, **kwargs)

    return call


def _named(name: str) -> Any:
    """A function by its dotted name; one without a module is a builtin."""
    module, *rest = name.split(".")
    thing = importlib.import_module(module if rest else "builtins")
    for part in rest or [module]:
        thing = getattr(thing, part)
    return thing
