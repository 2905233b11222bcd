"""Outputs and gradients of the first step, against eager's from the same weights, inputs and seed."""

from __future__ import annotations

from pathlib import Path

import torch

from breakscope import limits

# Relative to the largest value of the eager tensor: a few times what reordered sums of a deep model
# differ by.
TOLERANCE = {
    torch.float64: 1e-8,
    torch.complex128: 1e-8,
    torch.float32: 1e-4,
    torch.complex64: 1e-4,
    torch.float16: 1e-2,
    torch.bfloat16: 5e-2,
}
Values = dict[str, torch.Tensor]


def save(
    file: Path, values: dict[str, Values], again: dict[str, Values], other: dict[str, Values]
) -> None:
    """Keep eager's values; with whether a second run, and one under another seed, gave the same."""
    repeats = all(difference(values[part], again[part])["status"] != "different" for part in values)
    random = any(difference(values[part], other[part])["status"] == "different" for part in values)
    torch.save({"values": values, "repeats": repeats, "random": random}, file)


def with_reference(file: Path, values: dict[str, Values]) -> dict[str, dict]:
    """The agreement of "outputs" and "gradients" with eager's."""
    if not file.is_file():
        return {part: {"status": "not compared", "detail": "eager did not run"} for part in values}
    eager = torch.load(file, weights_only=True)
    found = {part: difference(eager["values"][part], values[part]) for part in values}
    for part, agreement in found.items():
        if agreement["status"] == "different" and (eager["random"] or not eager["repeats"]):
            why = "the step draws random numbers" if eager["random"] else "two eager runs differ"
            found[part] = {"status": "random", "tensors": agreement["tensors"], "detail": why}
    return found


def difference(eager: Values, other: Values) -> dict:
    """The worst tensor, measured against its tolerance."""
    if not eager and not other:
        return {"status": "not compared", "detail": "there are none"}
    if eager.keys() != other.keys():
        missing = sorted(eager.keys() ^ other.keys())
        return {
            "status": "different",
            "tensors": len(eager),
            "detail": f"only one side has {', '.join(missing[:3])}",
        }
    result: dict = {
        "status": "equal",
        "tensors": len(eager),
        "max_absolute": 0.0,
        "max_relative": 0.0,
        "tolerance": None,
    }
    worst = -1.0
    floor = limits.ROUNDING_SHARE * max(_largest(tensor) for tensor in eager.values())
    for name, reference in eager.items():
        absolute, relative, tolerance = _distance(reference, other[name], floor)
        result["max_absolute"] = max(result["max_absolute"], absolute)
        result["max_relative"] = max(result["max_relative"], relative)
        excess = relative / tolerance if tolerance else (float("inf") if relative else 0.0)
        if excess > worst:
            worst, result["tolerance"] = excess, tolerance
            if excess > 1:
                result |= {"status": "different", "detail": name}
    return _finite(result)


def _largest(a: torch.Tensor) -> float:
    finite = a.to_dense()[torch.isfinite(a.to_dense())]
    return float(finite.abs().max()) if finite.numel() else 0.0


def _distance(a: torch.Tensor, b: torch.Tensor, floor: float) -> tuple[float, float, float]:
    """(absolute, relative, tolerance); infinite when shape, dtype or the places of NaN and inf
    differ."""
    tolerance = TOLERANCE.get(a.dtype, 0.0)
    if a.shape != b.shape or a.dtype != b.dtype:
        return float("inf"), float("inf"), tolerance
    if not a.numel():
        return 0.0, 0.0, tolerance
    wide = torch.complex128 if a.is_complex() else torch.float64
    a, b = a.to_dense().to(wide), b.to_dense().to(wide)
    odd = ~torch.isfinite(a) | ~torch.isfinite(b)
    if odd.any() and not torch.allclose(a[odd], b[odd], equal_nan=True):
        return float("inf"), float("inf"), tolerance
    a, b = a[~odd], b[~odd]
    if not a.numel():
        return 0.0, 0.0, tolerance
    absolute, scale = float((a - b).abs().max()), max(float(a.abs().max()), floor)
    return absolute, absolute / scale if scale else (float("inf") if absolute else 0.0), tolerance


def _finite(result: dict) -> dict:
    """JSON has no infinity: an endless difference is none that can be named."""
    return {k: None if isinstance(v, float) and v == float("inf") else v for k, v in result.items()}
