"""What one model of graphmend_models.py does: its graph breaks and its results. It has nothing of
breakscope's.

    python benchmarks/graphmend_judge.py MODELS_FILE NAME KEPT

Prints a line of JSON: the breaks by `file:line`, the file of the model's class, and how the results differ from those in the file
KEPT, "" when they do not; without that file it writes it.
"""

from __future__ import annotations

import importlib.util
import inspect
import json
import os
import re
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

LOG = Path(tempfile.mkdtemp()) / "breaks.txt"
os.environ |= {"TORCH_LOGS": "graph_breaks", "TORCH_LOGS_OUT": str(LOG)}

import torch
from torch.utils import _pytree as pytree

BROKEN = re.compile(
    r"Graph break (?:\(.+\) )?in user code at (?P<file>.+):(?P<line>\d+)$", re.MULTILINE
)


def loaded(path: str):
    spec = importlib.util.spec_from_file_location(Path(path).stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def results(make: Any, compiled: bool) -> dict[str, Any]:
    """Outputs, gradients and the place of the random stream, of one call."""
    model, args, kwargs = make()
    run = torch.compile(model, backend="eager") if compiled else model
    torch.manual_seed(1)
    output = run(*args, **kwargs)
    found: dict[str, Any] = {"outputs": tensors(output)}
    if model.training:
        loss = getattr(output, "loss", None)
        if loss is None:
            loss = sum(t.sum() for t in tensors(output) if t.requires_grad and t.isfinite().all())
        loss.backward()
        found["gradients"] = [p.grad for p in model.parameters() if p.grad is not None]
    found["random stream"] = [torch.get_rng_state()]
    return {what: [t.detach().clone() for t in values] for what, values in found.items()}


def tensors(output: Any) -> list[torch.Tensor]:
    """All tensors of an output, caches included."""
    found: list[torch.Tensor] = []
    for leaf in pytree.tree_leaves(output):
        if isinstance(leaf, torch.Tensor):
            found.append(leaf)
        elif isinstance(leaf, dict):
            found += tensors(list(leaf.values()))
        elif hasattr(leaf, "to_legacy_cache"):
            found += tensors(leaf.to_legacy_cache())
        elif hasattr(leaf, "to_tuple"):
            found += tensors(leaf.to_tuple())
    return found


def difference(kept: dict, found: dict, form: str) -> str:
    """How two results differ, "" when they are equal to the bit."""
    for what, values in kept.items():
        others = found[what]
        if len(values) != len(others):
            return f"{form}: {len(others)} {what} instead of {len(values)}"
        for one, other in zip(values, others, strict=True):
            if one.dtype != other.dtype or one.shape != other.shape or not same(one, other):
                return f"{form}: other {what}"
    return ""


def same(one: torch.Tensor, other: torch.Tensor) -> bool:
    """True for the same bits; a NaN equals any NaN."""
    equal = (one == other) | ((one != one) & (other != other))
    return bool(equal.all())


def main(path: str, name: str, kept: str) -> int:
    make = getattr(loaded(path), name)
    eager = results(make, compiled=False)
    compiled = results(make, compiled=True)
    sites: Counter[str] = Counter()
    folder = Path(path).resolve().parent
    for broken in BROKEN.finditer(LOG.read_text(encoding="utf-8") if LOG.exists() else ""):
        file = Path(broken["file"])
        shown = file.relative_to(folder) if file.is_relative_to(folder) else file
        sites[f"{shown}:{broken['line']}"] += 1
    if not Path(kept).exists():
        torch.save(eager, kept)
    original = torch.load(kept)
    found = difference(original, eager, "eager") or difference(original, compiled, "compiled")
    model = Path(inspect.getfile(type(make()[0]))).relative_to(folder)
    print(json.dumps({"sites": sites, "difference": found, "model": str(model)}))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
