"""Tries every fix that is said to be safe on random calls: is anything else than before?

    python benchmarks/safe_fixes.py [--runs N] [--compiled N] [--seed N] [--minutes M] [NAME...]

Each program of `safe` has a fix that its rule calls safe, and `make()`, which gives a callable of
two tensors. It is fixed, and both forms get the same calls: 0-d, empty and broadcast shapes, NaN and
inf, several dtypes, tensors that are not contiguous or need gradients; each call is made twice.
Compared to the bit are results and their layout, gradients, exceptions, random streams, arguments
and module state afterwards, and what is printed and warned of. Some of the calls that do not raise
are made to the compiled fixed form, too (Dynamo takes back what a graph that raises has changed);
these have to be as the original is in eager mode, or compiled. A call is known by program, seed and
number, which a mismatch names. Exit code 1 when there is one.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import io
import random
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch.utils import _pytree as pytree

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from breakscope.fixes import FixOptions, fixed_sources
from breakscope.static import StaticOptions

PROGRAMS = Path(__file__).with_name("safe")
SHAPES = ((), (0,), (1,), (3,), (2, 3), (3, 1), (1, 3), (2, 0), (3, 3))
DTYPES = (
    *(torch.float32, torch.float16, torch.bfloat16, torch.float64),
    *(torch.int64, torch.uint8, torch.bool),
)
RAISES = "raises"
SPECIAL = (float("nan"), float("inf"), -float("inf"), 0.0, -0.0, 1e30, 65504.0)


@dataclass
class Result:
    """What the calls of one program showed. `codes` are those of its fixes."""

    name: str
    codes: set[str]
    runs: int = 0
    compiled: int = 0
    mismatches: list[str] = field(default_factory=list)


def fixed_text(program: Path) -> tuple[str, set[str]]:
    """The program with its safe fixes, and their codes."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / program.name
        copy.write_bytes(program.read_bytes())
        static = StaticOptions(entries=(f"{copy}::make",), libraries=False)
        fixed = fixed_sources([str(copy)], static, FixOptions(unsafe=False))
        codes = {applied.finding.code for applied in fixed.applied}
        return fixed.new.get(str(copy), b"").decode(), codes


def maker(text: str, name: str) -> Callable:
    """`make` of a program's text."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{name}.py"
        file.write_text(text, encoding="utf-8")
        spec = importlib.util.spec_from_file_location(name, file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)

    def called() -> Any:
        made = module.make()
        return made[0] if isinstance(made, tuple) else made

    return called


def arguments(draw: random.Random) -> tuple[torch.Tensor, torch.Tensor]:
    """Two tensors, often of shapes that broadcast."""
    first = draw.choice(SHAPES)
    second = first if draw.random() < 0.4 else draw.choice(SHAPES)
    dtype = draw.choice(DTYPES)
    return tensor(draw, first, dtype), tensor(
        draw, second, dtype if draw.random() < 0.6 else draw.choice(DTYPES)
    )


def tensor(draw: random.Random, shape: tuple, dtype: torch.dtype) -> torch.Tensor:
    """A tensor of ordinary and special values, in one of several layouts."""
    generator = torch.Generator().manual_seed(draw.getrandbits(32))
    layout = draw.choice(("plain", "plain", "transposed", "strided", "expanded"))
    made = torch.randn(
        shape if layout != "expanded" else (*shape[:-1], 1)[: len(shape)], generator=generator
    )
    if dtype.is_floating_point and draw.random() < 0.4 and made.numel():
        made.view(-1)[draw.randrange(made.numel())] = draw.choice(SPECIAL)
    made = (made * 3).abs().to(dtype) if not dtype.is_floating_point else made.to(dtype)
    needs_gradient = dtype.is_floating_point and draw.random() < 0.5
    made.requires_grad_(needs_gradient)
    if layout == "transposed" and len(shape) == 2:
        return made.t().contiguous().t()
    if layout == "strided" and shape:
        return torch.stack((made, made), -1)[..., 0]
    return made.expand(shape) if layout == "expanded" else made


def outcome(call: Callable, owner: Any, draw_seed: str) -> list:
    """All that two calls with the same arguments give and change."""
    found: list = []
    random.seed(0)
    torch.manual_seed(0)
    given = arguments(random.Random(draw_seed))
    for leaf in given:
        if leaf.requires_grad and not leaf.is_leaf:
            leaf.retain_grad()
    printed = io.StringIO()
    parameters = list(owner.parameters()) if isinstance(owner, torch.nn.Module) else []
    for _ in range(2):
        with warnings.catch_warnings(record=True) as warned, contextlib.redirect_stdout(printed):
            warnings.simplefilter("always")
            try:
                results = pytree.tree_leaves(call(*given))
                found += [kept(leaf) for leaf in results]
                losses = [
                    r.double().sum()
                    for r in results
                    if isinstance(r, torch.Tensor) and r.requires_grad
                ]
                if losses:
                    torch.stack(losses).sum().backward()
            except Exception as problem:
                found.append((RAISES, type(problem).__name__, str(problem).partition("\n")[0]))
        found += [kept(t.grad) for t in (*given, *parameters)]
        found += [kept(t) for t in given]
        found += [str(w.message) for w in warned if issubclass(w.category, UserWarning)]
        found += [random.getstate(), kept(torch.get_rng_state())]
        if isinstance(owner, torch.nn.Module):
            found += [kept(v) for v in owner.state_dict().values()]
            found.append(
                sorted((k, v) for k, v in vars(owner).items() if isinstance(v, int) and k[0] != "_")
            )
    return [*found, printed.getvalue()]


def kept(value: Any) -> Any:
    """A value in a form that compares to the bit, with its layout; one NaN is as good as another."""
    if not isinstance(value, torch.Tensor):
        return value
    facts = (str(value.dtype), tuple(value.shape), value.stride(), value.requires_grad)
    return (*facts, repr(value.detach().tolist()))


def tried(program: Path, runs: int, compiled: int, seed: int, until: float) -> Result:
    """The calls of one program; it ends early at `until`."""
    text, codes = fixed_text(program)
    result = Result(program.stem, codes)
    if not codes:
        result.mismatches.append("no safe fix was applied")
        return result
    original, fixed = (
        maker(program.read_text(encoding="utf-8"), program.stem),
        maker(text, program.stem),
    )
    every = max(1, runs // compiled) if compiled else runs + 1
    for number in range(runs):
        if time.monotonic() > until:
            break
        name = f"{program.stem} {seed} {number}"
        expected, actual = (outcome(made, made, name) for made in (original(), fixed()))
        result.runs += 1
        if expected != actual:
            result.mismatches.append(f"{name}: eager: {difference(expected, actual)}")
        raised = any(v[0] == RAISES for v in expected if type(v) is tuple and v)
        if result.compiled * every < result.runs and not raised:
            result.compiled += 1
            actual = outcome_compiled(fixed, name)
            if expected != actual and outcome_compiled(original, name) != actual:
                result.mismatches.append(f"{name}: compiled: {difference(expected, actual)}")
    return result


def outcome_compiled(make: Callable, name: str) -> list:
    torch._dynamo.reset()
    made = make()
    return outcome(torch.compile(made, backend="eager"), made, name)


def difference(expected: list, actual: list) -> str:
    if len(expected) != len(actual):
        return f"{len(expected)} values and {len(actual)}"
    pairs = zip(expected, actual, strict=True)
    place, one, other = next((n, a, b) for n, (a, b) in enumerate(pairs) if a != b)
    return f"value {place}: {str(one)[:200]} and {str(other)[:200]}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="programs of `safe`, all when none is given")
    parser.add_argument("--runs", type=int, default=10_000, help="calls of each program")
    parser.add_argument("--compiled", type=int, default=100, help="of them also compiled")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=10.0, help="for all programs together")
    given = parser.parse_args()
    programs = [
        p for p in sorted(PROGRAMS.glob("*.py")) if not given.names or p.stem in given.names
    ]
    end, wrong = time.monotonic() + given.minutes * 60, 0
    for number, program in enumerate(programs):
        now = time.monotonic()
        until = now + (end - now) / (len(programs) - number)
        result = tried(program, given.runs, given.compiled, given.seed, until)
        wrong += len(result.mismatches)
        print(
            f"{result.name:<20}{' '.join(sorted(result.codes)):<8}seed {given.seed}"
            f"{result.runs:>8} calls{result.compiled:>6} compiled"
            f"{len(result.mismatches):>4} mismatches",
            flush=True,
        )
        for mismatch in result.mismatches[:5]:
            print(f"    {mismatch}")
    return int(wrong > 0)


if __name__ == "__main__":
    from result_file import run

    run(main, "safe-fixes")
