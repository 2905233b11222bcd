#!/usr/bin/env python3
"""What one file costs `breakscope check`, as an editor or a pre-commit hook pays it: hook_speed.py [--runs N] [FILE...]

Measured is the CPU time (user and system) of whole processes, several runs of each, taken in turns so that other work on
the machine disturbs all of them alike; bytecode is cached, as it is for an installed package. Beside the given files,
some of about 500 lines that this script writes: twelve attention blocks, without a graph break and with a few; the first
once more with a line that only the analyzer follows, so that no quicker look clears it; functions without any model.
`BREAKSCOPE_NO_CACHE=1` holds for all of them, as if each run were the first, but for those "again".
Wanted: at most 3 times `python -c pass` for files without findings, 2 times `import libcst` for the one with some.
Linux and macOS only.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
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
PLAIN = '''

def function{number}(rows: list[dict], key: str = "name{number}") -> dict[str, list[dict]]:
    """Rows by what they have under the key; those without it are left out."""
    found: dict[str, list[dict]] = {{}}
    for row in rows:
        if key in row:
            found.setdefault(row[key], []).append(row)
    for name, group in sorted(found.items()):
        if len(group) > 10:
            found[name] = group[:10]
    return found
'''
ENTRY = """import sys

from breakscope.__main__ import main

if __name__ == "__main__":
    sys.exit(main())
"""
BLOCKS, FUNCTIONS = 12, 36
ANALYZED = "\n\nclass Empty(nn.Module):\n    def __len__(self):\n        return 0\n"  # no quicker look follows it
AGAIN = ", again"
NOTHING, SOMETHING = "mixed = mixed.clamp(-1e4, 1e4)", "mixed = mixed / mixed.max() if mixed.max() > 1e4 else mixed"


def written(folder: Path, name: str, breaks: bool) -> Path:
    """A file of some 500 lines; every fourth block breaks the graph when `breaks`."""
    path = folder / name / "model.py"
    path.parent.mkdir()
    blocks = (BLOCK.format(number=n, check=SOMETHING if breaks and n % 4 == 0 else NOTHING) for n in range(BLOCKS))
    path.write_text(HEAD + "".join(blocks), encoding="utf-8")
    return path


def settle(folder: Path) -> None:
    """Make all that was written a little older: what changed a moment ago is not kept in the cache."""
    before = time.time() - 60
    for path in (*folder.rglob("*"), folder):
        os.utime(path, (before, before))


def cpu_seconds(command: list[str], environment: dict[str, str], folder: Path) -> float:
    child = subprocess.Popen(command, env=environment, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in (0, 1):
        sys.exit(f"{' '.join(command)} ended with {child.returncode}")
    return usage.ru_utime + usage.ru_stime


def measured(commands: dict[str, list[str]], runs: int, folder: Path) -> dict[str, list[float]]:
    """CPU seconds of each command's runs, the first of which only fills the cache of bytecode."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": str(folder / "bytecode")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    environment.pop("BREAKSCOPE_NO_CACHE", None)
    anew = {**environment, "BREAKSCOPE_NO_CACHE": "1"}
    environments = {name: environment if name.endswith(AGAIN) else anew for name in commands}
    for name, command in commands.items():
        cpu_seconds(command, environments[name], folder)
    found: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(runs):
        for name, command in commands.items():
            found[name].append(cpu_seconds(command, environments[name], folder))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--runs", type=int, default=10)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        clean, analyzed, broken = (written(folder, name, name == "broken") for name in ("clean", "analyzed", "broken"))
        analyzed.write_text(analyzed.read_text(encoding="utf-8") + ANALYZED, encoding="utf-8")
        plain, command = folder / "plain.py", folder / "breakscope_command.py"
        plain.write_text("".join(PLAIN.format(number=n) for n in range(FUNCTIONS)), encoding="utf-8")
        command.write_text(ENTRY, encoding="utf-8")
        check = [sys.executable, "-m", "breakscope", "check"]
        commands = {
            "python -c pass": [sys.executable, "-c", "pass"],
            "import libcst": [sys.executable, "-c", "import libcst"],
            "check, no model": [*check, str(plain)],
            "check, clean model": [*check, str(clean)],
            "the same, installed command": [sys.executable, str(command), "check", str(clean)],
            "check, clean model, analyzed": [*check, str(analyzed)],
            f"the same{AGAIN}": [*check, str(analyzed)],
            "check, graph breaks": [*check, str(broken)],
        }
        for file in args.files:
            commands |= {f"check {file}{when}": [*check, str(file.resolve())] for when in ("", AGAIN)}
        settle(folder)
        lines = len(clean.read_text(encoding="utf-8").splitlines())
        print(f"Python {platform.python_version()}, {args.runs} runs, written files of {lines} lines")
        found = measured(commands, args.runs, folder)
    nothing, libcst = found["python -c pass"], found["import libcst"]
    print(f"{'CPU ms':<32}{'min':>7}{'median':>8}{'/ python -c pass':>18}{'/ import libcst':>17}   (of the medians)")
    for name, seconds in found.items():
        middle = statistics.median(seconds)
        ratios = middle / statistics.median(nothing), middle / statistics.median(libcst)
        print(f"{name:<32}{min(seconds) * 1000:7.0f}{middle * 1000:8.0f}{ratios[0]:18.1f}{ratios[1]:17.2f}")


if __name__ == "__main__":
    main()
