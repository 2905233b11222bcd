"""Whether a run whose breaks were neutralised took the program's own branches: its first output
beside eager's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import ModuleType
from typing import Any

import torch

from breakscope.dynamic.child import tensors
from breakscope.dynamic.child.bench.compare import Values, difference
from breakscope.dynamic.child.calls import Made, Plan, build, make_calls


class FirstOutput:
    """Calls a function and keeps the tensors that its first call gave."""

    def __init__(self, function: Callable) -> None:
        self.function = function
        self.values: Values | None = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        output = self.function(*args, **kwargs)
        if self.values is None:
            found = tensors.tensors_of(output)
            self.values = {
                str(number): tensor.detach().clone() for number, tensor in enumerate(found)
            }
        return output

    def differs_from_eager(self, module: ModuleType, plan: Plan) -> str:
        """How the first output differs from that of the same call in eager; "" when it does not,
        when nothing can be compared, or when two eager calls differ already."""
        try:
            first, second = self._eager(module, plan, 0), self._eager(module, plan, 1)
        except Exception:  # the compiled calls worked; that is what counts
            return ""
        if difference(first, second)["status"] == "different":
            return ""
        found = difference(first, self.values or {})
        if found["status"] != "different":
            return ""
        worst = found.get("max_relative")
        return "in shape or dtype" if worst is None else f"by {worst:.2g} of the largest value"

    def _eager(self, module: ModuleType, plan: Plan, seed: int) -> Values:
        target = build(module, plan)
        kept = FirstOutput(_seeded(target.function, seed))
        with torch.compiler.set_stance("force_eager"):
            make_calls(
                module,
                target,
                kept,
                replace(plan, limit=1, backward=False),
                Made(),
                lambda what, call: None,
                strict=True,
            )
        return kept.values or {}


def _seeded(function: Callable, seed: int) -> Callable:
    def call(*args: Any, **kwargs: Any) -> Any:
        if seed:
            torch.manual_seed(seed)
        return function(*args, **kwargs)

    return call if seed else function
