"""Runs torch's own operator samples (the database behind torch's tests) eagerly and under Dynamo.

Needs `expecttest`, which torch's testing modules import.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch

from breakscope.knowledge.build import capture
from breakscope.knowledge.build.inputs import kind
from breakscope.knowledge.build.results import describe

DTYPES = (torch.float32, torch.int64, torch.bool)
SAMPLES_COMPILED = 2


@dataclass(frozen=True)
class Operator:
    """One way to call an operator: "torch.add", "Tensor.add", "Tensor.add_"."""

    name: str
    info: Any

    @property
    def source(self) -> str:
        return f"{self.name} {self.info.variant_test_name}".strip()

    @property
    def is_method(self) -> bool:
        return self.name.startswith("Tensor.")

    @property
    def in_place(self) -> bool:
        return self.is_method and self.name.endswith("_")

    def __call__(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        if self.is_method:
            return getattr(value, self.name.partition(".")[2])(*args, **kwargs)
        return function_of(self.name)(value, *args, **kwargs)


def programs() -> list[Operator]:
    """Every operator with samples, with its method, its in-place method and its aliases, under the
    names people write."""
    from torch.testing._internal.common_methods_invocations import op_db

    found = {}
    for info in op_db:
        for spelling in (info, *info.aliases):
            names = [f"torch.{spelling.name}"]
            names += [
                f"Tensor.{v.__name__}"
                for v in (spelling.method_variant, spelling.inplace_variant)
                if hasattr(v, "__name__")
            ]
            for name in names:
                if callable(function_of(name.replace("Tensor.", "torch.Tensor."))):
                    found[name, info.variant_test_name] = Operator(name, info)
    return list(found.values())


def measure(operator: Operator) -> dict:
    """One operator's verdict under Dynamo and what it returned for each dtype; "invalid" when no
    sample ran."""
    returned, rows, problem = [], [], "no samples"
    for dtype in DTYPES:
        if dtype not in operator.info.dtypes:
            continue
        for number, sample in enumerate(itertools.islice(samples(operator.info, dtype), 6)):
            try:
                returned.append(
                    describe(
                        operator(
                            _own(sample.input, operator.in_place), *sample.args, **sample.kwargs
                        )
                    )
                )
            except Exception as error:
                problem = f"{type(error).__name__}: {error}"[:200]
                continue
            if len(rows) < (1 if operator.is_method else SAMPLES_COMPILED) and number in (0, 3):
                rows.append(_compile(operator, sample))
    if not returned or not rows:
        return {"invalid": problem}
    return {
        "table": "ops",
        "name": operator.name,
        "returned": sorted(set(returned)),
        "variants": rows,
    }


def _compile(operator: Operator, sample: Any) -> dict:
    if operator.is_method:
        method = operator.name.partition(".")[2]

        def probe(x, args, kwargs):
            y = x.clone() if in_place else x
            return getattr(y, method)(*args, **kwargs)
    else:
        function = function_of(operator.name)

        def probe(x, args, kwargs):
            return function(x, *args, **kwargs)

    in_place = operator.in_place
    verdict = capture.run(probe, (sample.input, sample.args, sample.kwargs))
    arguments = sample.args if operator.is_method else (sample.input, *sample.args)
    return {
        "source": operator.source,
        "breaks": verdict.breaks,
        "graphs": verdict.graphs,
        "lost": verdict.lost,
        "error": verdict.error,
        "arguments": [kind(a) for a in arguments],
        "keywords": {k: kind(v) for k, v in sample.kwargs.items()},
    }


def samples(info: Any, dtype: torch.dtype) -> Iterator[Any]:
    try:
        yield from info.sample_inputs("cpu", dtype, requires_grad=False)
    except Exception:  # a generator of samples that needs something this machine lacks
        return


def _own(value: Any, in_place: bool) -> Any:
    return value.clone() if in_place and isinstance(value, torch.Tensor) else value


def function_of(dotted: str) -> Any:
    found = torch
    for part in dotted.split(".")[1:]:
        found = getattr(found, part, None)
    return found
