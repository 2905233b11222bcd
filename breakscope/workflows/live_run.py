"""breakscope.run on a model or function that the program holds: calls under Dynamo, in this
process."""

from __future__ import annotations

import importlib.util
import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from breakscope.errors import UserError
from breakscope.report.model import Report
from breakscope.workflows.watch import watching


@dataclass(frozen=True, kw_only=True)
class Calls:
    """`args` and `kwargs` of the first calls, and the arguments of each further one: a tuple, or
    one argument."""

    args: Any
    kwargs: Mapping[str, Any]
    more: tuple[Any, ...]
    backward: bool


def run_here(
    model: Callable[..., Any], calls: Calls, backend: Any, rules: tuple[str, ...], source: bool
) -> Report:
    """The report of the calls; raises UserError for what cannot be called, or compiled with that
    backend."""
    function = _compiled(model, backend)
    seen: list[Report] = []
    forget_compiled()
    try:
        with watching(_name(model), rules, source, _entry(model)) as report:
            seen.append(report)
            _make(calls, function, model)
    except Exception:  # of the model: it is among the errors of the report
        if not seen:
            raise
    finally:
        forget_compiled()
    return seen[0]


def forget_compiled() -> None:
    """Dynamo as in a fresh process: what was compiled before would not be seen again."""
    dynamo = sys.modules.get("torch._dynamo")
    if dynamo is not None:
        dynamo.reset()


def _compiled(model: Callable[..., Any], backend: Any) -> Callable[..., Any]:
    if not callable(model):
        raise UserError(f"run: {type(model).__name__} cannot be called; give a model or a function")
    if importlib.util.find_spec("torch") is None:
        raise UserError("run needs torch: pip install torch")
    if _is_compiled(model):
        if backend is not None:
            raise UserError("run: the model is compiled already; leave `backend` out")
        return model
    import torch

    dynamo = torch._dynamo
    if isinstance(backend, str) and backend not in dynamo.list_backends(exclude_tags=()):
        usual = ", ".join(sorted(dynamo.list_backends()))
        raise UserError(f"run: no backend {backend!r}; there are {usual}")
    return torch.compile(model, backend=backend or "eager")


def _is_compiled(model: Any) -> bool:
    """True for what torch.compile gave, and for a module after its own `compile()`."""
    return (
        hasattr(model, "_torchdynamo_orig_callable")
        or "_orig_mod" in getattr(model, "_modules", {})
        or getattr(model, "_compiled_call_impl", None) is not None
    )


def _defined(model: Any) -> Any:
    """The function or class that was written, below what compiling and binding put around it."""
    model = getattr(model, "_orig_mod", model)
    model = inspect.unwrap(getattr(model, "_torchdynamo_orig_callable", model))
    return model if hasattr(model, "__qualname__") else type(model)


def _name(model: Any) -> str:
    return _defined(model).__qualname__


def _entry(model: Any) -> tuple[str, ...]:
    """FILE::NAME, where it has one: what is defined inside of a function has none."""
    defined = _defined(model)
    try:
        file = inspect.getsourcefile(defined)
    except TypeError:  # a builtin
        return ()
    return () if file is None or "<" in defined.__qualname__ else (f"{file}::{_name(model)}",)


def _make(calls: Calls, function: Callable[..., Any], model: Any) -> None:
    from breakscope.dynamic.child.tensors import form_loss, gradients_put_back

    # the second call shows whether the first is compiled again
    for args in (calls.args, calls.args, *calls.more):
        args = args if isinstance(args, tuple) else (args,)
        output = function(*args, **calls.kwargs)
        loss = form_loss(output) if calls.backward else None
        if loss is not None:
            with gradients_put_back(model, (args, calls.kwargs)):
                loss.backward()
