"""Runs two forms of a program and compares what they give; it has nothing of breakscope's.

    python benchmarks/same_results.py ORIGINAL FIXED

Both define `make()`, which returns (callable, args, kwargs), and may define `calls()`. Each form runs
in a process of its own, forked from one that has loaded torch. Prints the breaks of both forms under
Dynamo, and one line when outputs, gradients, arguments, exceptions or random streams differ: of the
fixed form in eager mode, and compiled, where it may also be as the compiled original. Exit code 1
when they do.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import logging
import os
import random
import signal
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy
import torch
import torch._dynamo
from torch.utils import _pytree as pytree

LIMIT = 60  # seconds for one form


@dataclass
class Ran:
    """What one form gave: for each call its values. `problem` when it did not end well."""

    calls: list[list] = field(default_factory=list)
    weights: dict | None = None
    breaks: int = 0
    reasons: list[str] = field(default_factory=list)
    problem: str = ""


def ran(path: Path, compiled: bool, weights: dict | None = None, limit: int = LIMIT) -> Ran:
    """Run one form in a forked process, which is ended at the limit."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        signal.alarm(limit)
        try:
            found = run(path, compiled, weights)
        except BaseException as problem:
            found = Ran(problem=f"{type(problem).__name__}: {str(problem)[:200]}")
        with os.fdopen(writing, "wb") as stream:
            torch.save(found, stream)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        data = stream.read()
    os.waitpid(child, 0)
    if not data:
        return Ran(problem=f"it ended, or took more than {limit} s")
    return torch.load(io.BytesIO(data), weights_only=False)


def run(path: Path, compiled: bool, weights: dict | None) -> Ran:
    """Call the program's callable, in this process."""
    os.chdir(path.parent)
    sys.path.insert(0, str(path.parent))
    seed()
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    nothing = io.StringIO()
    with contextlib.redirect_stdout(nothing), contextlib.redirect_stderr(nothing):
        spec.loader.exec_module(module)
        seed()
        made = module.make()
        function, args, kwargs = (*made, (), {})[:3] if isinstance(made, tuple) else (made, (), {})
        owner = function if isinstance(function, torch.nn.Module) else None
        if owner is not None and weights is not None:
            owner.load_state_dict(weights, strict=False)
        found = Ran(weights=state_of(owner))
        with breaks_into(found):
            called = torch.compile(function, backend="eager") if compiled else function
            seed()
            calls = (
                [(c if isinstance(c, (tuple, list)) else (c,), {}) for c in module.calls()]
                if hasattr(module, "calls")
                else [(args, kwargs)] * 2
            )
            found.calls = [values(called, owner, *call) for call in calls]
    return found


def state_of(owner: torch.nn.Module | None) -> dict | None:
    return {k: plain(v) for k, v in owner.state_dict().items()} if owner is not None else None


def seed() -> None:
    random.seed(0)
    numpy.random.seed(0)
    torch.manual_seed(0)


@contextlib.contextmanager
def breaks_into(found: Ran):
    """Count the breaks that Dynamo's structured trace reports."""

    class Counter(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            artifact = (getattr(record, "metadata", None) or {}).get("artifact", {})
            if artifact.get("name") == "dynamo_graph_break_reason":
                found.breaks += 1
                payload = record.payload() if callable(record.payload) else record.payload
                text = str(payload).partition("Graph Break Reason:")[2] or str(payload)
                found.reasons.append(text.strip().partition("\n")[0][:200])

    trace = logging.getLogger("torch.__trace")
    counter, level = Counter(), trace.level
    trace.addHandler(counter)
    trace.setLevel(logging.DEBUG)
    trace.propagate = False
    logging.getLogger("torch._dynamo").setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        trace.removeHandler(counter)
        trace.setLevel(level)


def values(call: Any, owner: torch.nn.Module | None, args: tuple, kwargs: dict) -> list:
    """Outputs, gradients, the exception, the arguments afterwards and the place of the random
    streams, of one call."""
    given = pytree.tree_leaves((args, kwargs))
    leaves = [v for v in given if isinstance(v, torch.Tensor) and v.is_leaf and v.requires_grad]
    leaves += list(owner.parameters()) if owner is not None else []
    found: list = []
    try:
        outputs = pytree.tree_leaves(call(*args, **kwargs))
        found += [kept(leaf) for leaf in outputs]
        losses = [
            v.float().sum().reshape(())
            for v in outputs
            if isinstance(v, torch.Tensor) and v.requires_grad and not v.is_complex()
        ]
        if losses:
            torch.stack(losses).sum().backward()
        found += [("gradient", kept(v.grad)) for v in leaves]
        for v in leaves:
            v.grad = None
    except Exception as problem:
        found.append(("raises", type(problem).__name__))
    found += [kept(leaf) for leaf in given]
    state = (torch.get_rng_state().tolist(), random.getstate(), str(numpy.random.get_state()))
    return [*found, ("random", hash(str(state)))]


def kept(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return plain(value)
    if isinstance(value, (int, float, str, bool, type(None))):
        return value
    return type(value).__name__


def plain(value: torch.Tensor) -> torch.Tensor:
    """A copy without gradient, strided, and of no subclass."""
    with torch._C.DisableTorchFunctionSubclass(), torch.no_grad():
        value = value.detach().as_subclass(torch.Tensor)
        return (value.to_dense() if value.layout != torch.strided else value).clone()


def difference(ours: Ran, theirs: Ran) -> str:
    """The first place at which two forms differ, "" when there is none."""
    if ours.problem or theirs.problem:
        return f"{ours.problem or 'runs'}; {theirs.problem or 'runs'}"
    for number, (one, other) in enumerate(zip(ours.calls, theirs.calls, strict=True), 1):
        if len(one) != len(other):
            return f"call {number}: {len(one)} values and {len(other)}"
        for place, (a, b) in enumerate(zip(one, other, strict=True), 1):
            if not is_same(a, b):
                return f"call {number}, value {place}: {shown(a)} and {shown(b)}"
    return ""


def is_same(a: Any, b: Any) -> bool:
    if isinstance(a, tuple) and isinstance(b, tuple):
        return a[0] == b[0] and is_same(a[1], b[1])
    if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor):
        if a.dtype != b.dtype or a.shape != b.shape:
            return False
        wide = torch.complex128 if a.is_complex() else torch.float64
        return a.numel() == 0 or torch.allclose(
            a.to(wide), b.to(wide), rtol=1e-5, atol=1e-6, equal_nan=True
        )
    return type(a) is type(b) and (a == b or (a != a and b != b))


def shown(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return f"{value.dtype} {list(value.shape)} {value.flatten()[:3].tolist()}"
    return repr(value)[:80]


@dataclass
class Judged:
    """Breaks under Dynamo before and after, and how the results differ, "" when they do not."""

    before: int
    after: int
    reasons: list[str]
    difference: str


def judged(original: Path, fixed: Path) -> Judged:
    eager = ran(original, False)
    compiled, after = ran(original, True, eager.weights), ran(fixed, True, eager.weights)
    found = difference(eager, ran(fixed, False, eager.weights))
    if found:
        found = f"eager: {found}"
    elif (found := difference(eager, after)) and difference(compiled, after):
        found = f"compiled: {found}"
    else:
        found = ""
    return Judged(compiled.breaks, after.breaks, after.reasons, found)


def main() -> int:
    found = judged(*(Path(path).resolve() for path in sys.argv[1:3]))
    print(f"breaks: {found.before} before, {found.after} after")
    if found.difference:
        print(f"other results: {found.difference}")
    return int(bool(found.difference))


if __name__ == "__main__":
    sys.exit(main())
