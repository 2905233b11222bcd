#!/usr/bin/env python3
"""What one file costs `breakscope check`, as a pre-commit hook pays it, beside flake8 and libcst:
hook_speed.py [--runs N] [--python PYTHON]

breakscope (this checkout, not editable) and flake8 are installed into a fresh environment, or stand
in that of `--python` already. Two files of some 500 lines are checked that this script writes:
twelve attention blocks, without a graph break and with three. Measured is the CPU time (user and
system) of whole processes, in turns, so that other work on the machine disturbs all of them alike;
the ratios are of medians. The exit code is 1 when the clean file takes more than 0.6 times what
flake8 takes for it, or the one with breaks more than 1.3 times `import libcst`. Linux and macOS
only.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LEFT_OUT = shutil.ignore_patterns(".*", "__pycache__", "*.egg-info")
HEAD = """import math

import torch
import torch.nn.functional as F
from torch import nn
"""
BLOCK = '''

class Attention{number}(nn.Module):
    """Self-attention with an optional mask."""

    def __init__(self, width: int, heads: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.heads = heads
        self.scale = 1.0 / math.sqrt(width // heads)
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.output = nn.Linear(width, width)
        self.dropout = nn.Dropout(dropout)

    def split(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        return x.view(batch, length, self.heads, width // self.heads).transpose(1, 2)

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        query, key, value = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        scores = query @ key.transpose(-1, -2) * self.scale
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        mixed = self.dropout(F.softmax(scores, dim=-1)) @ value
        {check}
        return self.output(mixed.transpose(1, 2).flatten(2))


class Block{number}(nn.Module):
    """Attention and a perceptron, each behind a norm."""

    def __init__(self, width: int, heads: int, hidden: int) -> None:
        super().__init__()
        self.attention = Attention{number}(width, heads)
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, hidden), nn.Linear(hidden, width)

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        x = x + self.attention(self.first(x), mask)
        return x + self.down(F.gelu(self.up(self.second(x))))
'''
BLOCKS, BREAKS_EVERY = 12, 4
NOTHING, SOMETHING = (
    "mixed = mixed.clamp(-1e4, 1e4)",
    "mixed = mixed / mixed.max() if mixed.max() > 1e4 else mixed",
)
WANTED = {"clean": ("flake8", 0.6), "breaks": ("import libcst", 1.3)}


def write(path: Path, breaks: bool) -> None:
    """A file of some 500 lines; every fourth block breaks the graph when `breaks`."""
    checks = (
        SOMETHING if breaks and number % BREAKS_EVERY == 0 else NOTHING for number in range(BLOCKS)
    )
    blocks = (BLOCK.format(number=number, check=check) for number, check in enumerate(checks))
    path.write_text(HEAD + "".join(blocks), encoding="utf-8")


def installed(folder: Path) -> Path:
    """The Python of a fresh environment with this checkout and flake8."""
    source = shutil.copytree(ROOT, folder / "source", ignore=LEFT_OUT)
    shutil.rmtree(source / "build", ignore_errors=True)  # of an earlier installation
    venv.create(folder / "environment", with_pip=True)
    python = folder / "environment" / "bin" / "python"
    install = [python, "-m", "pip", "install", "--quiet", "-c", source / "constraints.txt"]
    subprocess.run([*install, source, "flake8"], check=True)
    return python


def cpu_seconds(command: list, folder: Path) -> float:
    """CPU seconds of a process that runs in the folder, far from this checkout."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    environment["BREAKSCOPE_CACHE_DIR"] = os.devnull  # where no answer can be kept
    child = subprocess.Popen(
        command, env=environment, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in (0, 1):
        sys.exit(f"{' '.join(map(str, command))} ended with {child.returncode}")
    return usage.ru_utime + usage.ru_stime


def measured(commands: dict[str, list], runs: int, folder: Path) -> dict[str, list[float]]:
    """CPU seconds of each command's runs, in turns; a first one that may write bytecode is left out."""
    found: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(runs + 1):
        for name, command in commands.items():
            found[name].append(cpu_seconds(command, folder))
    return {name: seconds[1:] for name, seconds in found.items()}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--python", type=Path, help="of an environment with breakscope and flake8")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        python = args.python.absolute() if args.python else installed(folder)
        for kind in WANTED:
            write(folder / f"{kind}.py", kind == "breaks")
        check = [python.with_name("breakscope"), "check"]
        commands = {
            "python -c pass": [python, "-c", "pass"],
            "import libcst": [python, "-c", "import libcst"],
            "flake8": [python, "-m", "flake8", "--isolated", "clean.py"],
            **{kind: [*check, f"{kind}.py"] for kind in WANTED},
        }
        found = measured(commands, args.runs, folder)
    middle = {name: statistics.median(seconds) for name, seconds in found.items()}
    print(f"Python {platform.python_version()}, {platform.machine()}, {args.runs} runs, CPU ms")
    for name, seconds in found.items():
        print(f"{name:<16}{min(seconds) * 1000:7.0f} least{middle[name] * 1000:7.0f} median")
    good = True
    for kind, (beside, most) in WANTED.items():
        ratio = middle[kind] / middle[beside]
        good = good and ratio <= most
        print(f"check {kind}: {ratio:.2f} times {beside}, wanted: at most {most}")
    return 0 if good else 1


if __name__ == "__main__":
    from result_file import run

    run(main, "one-file")
