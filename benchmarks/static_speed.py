"""Speed of `breakscope check` beside other tools, measured in one run on the same files.

    python benchmarks/static_speed.py FOLDER [--full] [--torchfix-lines N] [--json FILE]

Each tool runs once, cold (no cache of its own), in one process and one thread; CPU seconds (user
and system) and peak memory come from the operating system's account of that process (`os.wait4`).
flake8 and TorchFix are slow, so they get a part of the files, spread over the folder; with --full
flake8 gets all. Both are installed from PyPI into environments of their own in a temporary folder
(left out with --no-install). Also printed: which heavy libraries a check imports. The exit code is
1 when a check imports what it must not, or is wrong about a clean or a breaking file. Linux and
macOS only.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import venv
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEAVY = ("torch", "libcst", "click", "rich")
AST_PARSE = """
import ast, sys
for path in open(sys.argv[1], encoding="utf-8").read().split("\\0"):
    try:
        ast.parse(open(path, "rb").read())
    except (SyntaxError, ValueError):
        pass
"""
CLEAN_FILE = """import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.linear = nn.LayerNorm(width), nn.Linear(width, width)

    def forward(self, x):
        return x + torch.relu(self.linear(self.norm(x)))
"""
FILE_WITH_A_BREAK = CLEAN_FILE.replace(
    "        return", "        if x.sum() > 0:\n            x = -x\n        return"
)


@dataclass(frozen=True)
class Files:
    """Some Python files and how many lines they have."""

    paths: tuple[Path, ...]
    lines: int

    @classmethod
    def of(cls, paths) -> Files:
        paths = tuple(paths)
        return cls(paths, sum(path.read_bytes().count(b"\n") for path in paths))

    def part(self, lines: int) -> Files:
        """Every n-th file, so that about `lines` lines remain."""
        return Files.of(self.paths[:: max(1, round(self.lines / lines))])


@dataclass(frozen=True)
class Measured:
    """One tool's run: `cpu_seconds` is user and system time, `peak_mb` the largest resident size in
    10**6 bytes."""

    tool: str
    files: int
    lines: int
    cpu_seconds: float
    peak_mb: float
    exit_code: int
    output: str = ""
    failed: bool = False  # the tool is not installed, or broke off: its seconds say nothing

    @property
    def lines_per_second(self) -> float:
        return self.lines / self.cpu_seconds

    def row(self) -> str:
        if self.failed:
            return f"{self.tool:<28}not measured"
        return (
            f"{self.tool:<28}{self.files:>7,}{self.lines:>11,}{self.cpu_seconds:>10.2f}"
            f"{self.lines_per_second:>12,.0f}{self.peak_mb:>9.0f}{self.exit_code:>6}"
        )


def measure(tool: str, command: list, files: Files, folder: Path) -> Measured:
    """Run the command; what it prints goes to files, as a pipe would make it wait."""
    environment = {**os.environ, "RAYON_NUM_THREADS": "1", "PYTHONPATH": str(ROOT), "NO_COLOR": "1"}
    # pip compiles what it installs, a checkout is compiled once
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    environment["BREAKSCOPE_CACHE_DIR"] = os.devnull  # where no answer can be kept
    out, err = folder / "out", folder / "err"
    with out.open("wb") as stdout, err.open("wb") as stderr:
        child = subprocess.Popen(
            [str(part) for part in command], stdout=stdout, stderr=stderr, env=environment
        )
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    unit = 1 if sys.platform == "darwin" else 1024
    text = err.read_text(encoding="utf-8", errors="replace")
    said = "\n".join(line for line in text.splitlines() if not line.startswith("import time:"))
    failed = child.returncode not in (0, 1) or "No module named" in said or "Traceback" in said
    if failed:
        print(
            f"{tool or 'breakscope check'} ended with {child.returncode}: {said.strip()[-500:]}",
            file=sys.stderr,
        )
    seconds = usage.ru_utime + usage.ru_stime
    return Measured(
        tool,
        len(files.paths),
        files.lines,
        seconds,
        usage.ru_maxrss * unit / 1e6,
        child.returncode,
        text,
        failed,
    )


def imported(importtime: str) -> list[str]:
    """Which of the heavy libraries stand in the output of `python -X importtime`."""
    names = {
        line.rpartition("|")[2].strip()
        for line in importtime.splitlines()
        if line.startswith("import time:")
    }
    return [name for name in HEAVY if name in names]


def check_command(*arguments) -> list:
    return [sys.executable, "-X", "importtime", "-m", "breakscope", "check", *arguments]


def install(folder: Path, *packages: str) -> Path | None:
    """A fresh environment with the packages: its python, or None when PyPI cannot be reached."""
    venv.create(folder, with_pip=True)
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    done = subprocess.run(
        [python, "-m", "pip", "install", "--quiet", *packages],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        print(
            f"left out, cannot be installed: {', '.join(packages)}: {done.stderr.strip()[-200:]}",
            file=sys.stderr,
        )
    return None if done.returncode else python


def argument_file(files: Files, path: Path) -> Path:
    path.write_text("\0".join(str(file) for file in files.paths), encoding="utf-8")
    return path


def tools(root: Path, files: Files, args, folder: Path):
    """(tool, command, files) of everything to run, fast ones first."""
    yield (
        "ast.parse",
        [sys.executable, "-c", AST_PARSE, argument_file(files, folder / "files")],
        files,
    )
    ruff = [sys.executable, "-m", "ruff", "check", "--no-cache", "--isolated", "--exit-zero"]
    ruff += ["--output-format", "concise"]
    yield "ruff, default rules", [*ruff, root], files
    yield "ruff, all rules", [*ruff, "--select", "ALL", root], files
    yield "breakscope check", check_command(root, "--format", "concise"), files
    if args.no_install:
        return
    flake8 = ["-m", "flake8", "--isolated", "--jobs", "1"]
    if python := install(folder / "flake8", "flake8"):
        part = files if args.full else files.part(args.flake8_lines)
        yield "flake8", [python, *flake8, *part.paths], part
    if python := install(folder / "torchfix", "torchfix"):
        part = files.part(args.torchfix_lines)
        yield "TorchFix (flake8 plugin)", [python, *flake8, "--select", "TOR", *part.paths], part


def imports_of(source: str, folder: Path) -> tuple[int, list[str]]:
    """Exit code and heavy imports of a check of one file with this source."""
    path = folder / "model.py"
    path.write_text(source, encoding="utf-8")
    done = measure("", check_command(path), Files.of([path]), folder)
    return done.exit_code, imported(done.output)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--full", action="store_true", help="give flake8 all files")
    parser.add_argument("--flake8-lines", type=int, default=100_000)
    parser.add_argument("--torchfix-lines", type=int, default=20_000)
    parser.add_argument("--no-install", action="store_true", help="leave out flake8 and TorchFix")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    args = parser.parse_args()
    files = Files.of(sorted(path for path in args.folder.rglob("*.py") if path.is_file()))
    if not files.lines:
        parser.error(f"no Python files under {args.folder}")

    python = f"Python {platform.python_version()}, {platform.machine()}"
    print(f"{python}: {files.lines:,} lines in {len(files.paths):,} files")
    print(
        f"{'':<28}{'files':>7}{'lines':>11}{'CPU s':>10}{'lines/CPU s':>12}{'peak MB':>9}{'exit':>6}",
        flush=True,
    )
    rows, seen = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # compiles a checkout's own source, where that was not done
        imports_of(FILE_WITH_A_BREAK, folder)
        for tool, command, part in tools(args.folder, files, args, folder):
            row = measure(tool, command, part, folder)
            print(row.row(), flush=True)
            if row.failed and tool == "breakscope check":
                return 1
            if not row.failed:
                rows.append(
                    {
                        **asdict(row),
                        "output": "",
                        "lines_per_cpu_second": round(row.lines_per_second),
                    }
                )
            if tool == "breakscope check":
                seen = imported(row.output)
        clean_exit, clean = imports_of(CLEAN_FILE, folder)
        break_exit, broken = imports_of(FILE_WITH_A_BREAK, folder)
    print(
        f"imported while checking the folder:    {', '.join(seen) or 'none'} of {', '.join(HEAVY)}"
    )
    print(
        f"imported while checking a clean file:  {', '.join(clean) or 'none'} (exit code {clean_exit}, expected 0)"
    )
    print(
        f"imported while checking a graph break: {', '.join(broken) or 'none'} (exit code {break_exit}, expected 1)"
    )
    if args.json:
        facts = {
            "python": platform.python_version(),
            "machine": platform.machine(),
            "tools": rows,
            "imports": {"folder": seen, "clean_file": clean, "file_with_a_break": broken},
        }
        args.json.write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
    good = not clean and "torch" not in seen + broken and (clean_exit, break_exit) == (0, 1)
    return 0 if good else 1


if __name__ == "__main__":
    from result_file import run

    run(main, "check-speed")
