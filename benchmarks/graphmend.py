"""Breaks that `breakscope fix --verify` removes from twelve models of transformers.

    python benchmarks/graphmend.py [NAME ...] [--jobs N] [--folder DIR] [--unproven] [--keep]

Needs transformers 4.52.4 and torch 2.13 beside breakscope. graphmend_models.py builds each model of
the GraphMend benchmark from its public class with small random weights, and calls it in evaluation
(forward) and in training (forward and backward). A row is a model in one mode that breaks; its
breaks are what TORCH_LOGS=graph_breaks lists in the first call (one break is listed again for each
frame around it that is compiled), and a site is one source line of them.

The installed transformers is copied twice, because only a project's own files are fixed. In one
copy the files of a row's sites, and that of its model, are fixed by `breakscope fix --unsafe-fixes
--verify`, where the proof makes the row's call three times. Then graphmend_judge.py, which has nothing of
breakscope's, counts the breaks of both copies, and compares outputs, gradients and the random
stream bit for bit: the fixed form in eager and compiled with the original in eager. After a row the
files are as they were. "Changed lines" is the largest run of changed lines in the row's diff, with
the lines that only moved to another indentation, and without them.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path

HERE = Path(__file__).resolve().parent
MODELS = "graphmend_models.py"
JUDGE = HERE / "graphmend_judge.py"
BREAKSCOPE = [sys.executable, "-P", "-m", "breakscope"]
NAMES = (
    "t5 bart whisper marian biogpt blenderbot pegasus layoutlmv3 phi3_longrope grounding_dino "
    "longformer clap_fusion"
).split()
MODES = ("eval", "train")
SECONDS = 1800  # for one command


@dataclass
class Row:
    """A model in one mode. Sites are `file:line` with the number of breaks there."""

    name: str
    before: Counter[str] = field(default_factory=Counter)
    after: Counter[str] = field(default_factory=Counter)
    difference: str = ""  # of the results
    fixed: list[str] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    hunks: list[int] = field(default_factory=list)  # changed lines of each
    unindented: list[int] = field(default_factory=list)  # without those that only moved
    helpers: list[str] = field(default_factory=list)  # imports that the fixes add
    error: str = ""
    is_proven: bool = True  # fixed with --verify


class Trees:
    """Two copies of transformers with the models beside them."""

    def __init__(self, folder: Path, is_proven: bool) -> None:
        self.is_proven = is_proven
        self.before, self.after = folder / "before", folder / "after"
        for tree in (self.before, self.after):
            if not tree.exists():
                copy_of_transformers(tree)
            shutil.copyfile(HERE / MODELS, tree / MODELS)

    def restore(self, files: set[str]) -> None:
        for file in files:
            shutil.copyfile(self.before / file, self.after / file)


def copy_of_transformers(into: Path) -> None:
    source = Path(find_spec("transformers").origin).parent
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(source, into / "transformers", ignore=ignored, copy_function=shutil.copyfile)
    (into / "pyproject.toml").write_text("[project]\nname = 'scratch'\n", encoding="utf-8")


def row_of(name: str, trees: Trees, results: Path) -> Row:
    """Judge, fix, and judge again; a row that the folder has is read."""
    kept = results / f"{name}.json"
    if kept.exists():
        read = json.loads(kept.read_text(encoding="utf-8"))
        counts = {what: Counter(read.pop(what)) for what in ("before", "after")}
        return Row(**read, **counts)
    row = made_row(name, trees, results)
    if not row.error:
        kept.write_text(json.dumps(vars(row)), encoding="utf-8")
    return row


def made_row(name: str, trees: Trees, results: Path) -> Row:
    row = Row(name, is_proven=trees.is_proven)
    (results / f"{name}.pt").unlink(missing_ok=True)
    try:
        row.before, _, model = judged(name, trees.before, results)
        files = {site.rpartition(":")[0] for site in row.before} | {model}
        trees.restore(files)  # after a run that was ended
        if row.before:
            fix(row, trees, sorted(files))
            row.after, row.difference, _ = judged(name, trees.after, results)
            trees.restore(files)
    except (subprocess.SubprocessError, ValueError) as problem:
        row.error = f"{type(problem).__name__}: {problem}"[-600:]
    return row


def judged(name: str, tree: Path, results: Path) -> tuple[Counter[str], str, str]:
    """The sites that break in a tree, how its results differ from those that are kept, and the file
    of the model's class."""
    kept = results / f"{name}.pt"
    done = subprocess.run(
        [sys.executable, str(JUDGE), str(tree / MODELS), name, str(kept)],
        cwd=tree,
        env=environment(tree),
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    if done.returncode:
        raise ValueError(f"the judge of {name} failed: {done.stderr[-500:]}")
    said = json.loads(done.stdout.splitlines()[-1])
    return Counter(said["sites"]), said["difference"], said["model"]


def fix(row: Row, trees: Trees, files: list[str]) -> None:
    """Fix the files in their place, as a user would."""
    options = ["--unsafe-fixes", "--format", "json", "--jobs", "1", "--show-possible"]
    if trees.is_proven:
        options += ["--verify", f"{MODELS}::{row.name}", "--calls", f"{row.name}_calls"]
        options += ["--timeout", str(SECONDS), "--no-vary"]
        options += ["--no-backward"] if row.name.endswith("_eval") else []
    done = subprocess.run(
        [*BREAKSCOPE, "fix", *files, *options],
        cwd=trees.after,
        env=environment(trees.after),
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    if not done.stdout.strip():
        raise ValueError(done.stderr)
    report = json.loads(done.stdout)
    fixes = report["fixes"]
    row.fixed = [f"{Path(p['path']).name}:{p['line']} {p['code']}" for p in fixes["fixed"]]
    row.reasons = [
        f"{Path(p['path']).name}:{p['line']} {p['code']}: {p['reason']}" for p in fixes["not_fixed"]
    ]
    for changed in fixes["files"]:
        runs = list(changed_runs(changed["diff"]))
        row.hunks += [max(map(len, run)) for run in runs]
        row.unindented += [
            max((old - new).total(), (new - old).total())
            for old, new in ([Counter(map(str.strip, side)) for side in run] for run in runs)
        ]
        row.helpers += [
            line
            for line in changed["diff"].splitlines()
            if line.startswith(("+import ", "+from ")) and line not in ("+import torch",)
        ]


def changed_runs(diff: str) -> Iterator[tuple[list[str], list[str]]]:
    """Each run of changed lines: those that are gone, and those that are new."""
    lines = diff.splitlines()[2:]
    for is_changed, run in groupby(lines, lambda line: line[:1] in ("+", "-")):
        if is_changed:
            changed = list(run)
            yield tuple([line[1:] for line in changed if line[0] == mark] for mark in "-+")


def environment(tree: Path) -> dict[str, str]:
    path = os.pathsep.join((str(tree), str(HERE.parent)))
    return {**os.environ, "PYTHONPATH": path, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}


def show(rows: list[Row]) -> int:
    """Print the table, the totals and what remains; 1 when a result differs or a command failed."""
    breaking = [row for row in rows if row.before]
    print("| model and mode | breaks | left | sites | left | changed lines | results | proof |")
    print("|---|---|---|---|---|---|---|---|")
    for row in breaking:
        lines = f"{max(row.hunks, default=0)} ({max(row.unindented, default=0)})"
        result = row.error.splitlines()[-1] if row.error else row.difference or "equal"
        print(
            f"| {row.name} | {row.before.total()} | {row.after.total()} | {len(row.before)} "
            f"| {len(row.after)} | {lines} | {result} | {'--verify' if row.is_proven else 'none'} |"
        )
    before = sum((row.before for row in breaking), Counter())
    left = sum((row.after for row in breaking), Counter())
    removed = before.total() - left.total()
    print(
        f"\n{len(breaking)} of {len(rows)} rows break: {before.total()} breaks at {len(before)} source "
        f"lines. Removed: {removed} ({removed / max(before.total(), 1):.0%}). Rows with other "
        f"results: {sum(bool(row.difference) for row in rows)}. Most changed lines at one site: "
        f"{max((max(row.hunks, default=0) for row in rows), default=0)}, without those that only "
        f"moved {max((max(row.unindented, default=0) for row in rows), default=0)}. Imports besides torch: "
        f"{sum(len(row.helpers) for row in rows)}."
    )
    print("\n| source line | breaks |\n|---|---|")
    for site, count in sorted(before.items()):
        print(f"| {site} | {count} |")
    print("\nLeft, with the lines of the fixed files, and what was not fixed there and why:\n")
    for row in (row for row in breaking if row.after):
        for site, count in row.after.items():
            print(f"- {row.name}: {site}, {count} times")
        for reason in row.reasons:
            print(f"- {row.name}: {reason}")
    return int(any(row.difference or row.error for row in rows))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=NAMES, help="only these models")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument(
        "--folder", type=Path, help="keep the copies of transformers and the rows here"
    )
    parser.add_argument("--unproven", action="store_true", help="apply every fix, without proofs")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = (given.folder or Path(temporary)).resolve()
        results = folder / "rows"
        results.mkdir(parents=True, exist_ok=True)

        def rows_of(name: str) -> list[Row]:
            # the rows of a model change the same files, one after the other
            trees = Trees(folder / name if given.jobs > 1 else folder, not given.unproven)
            found = [row_of(f"{name}_{mode}", trees, results) for mode in MODES]
            for row in found:
                print(f"{row.name}: {row}", file=sys.stderr)
            return found

        with ThreadPoolExecutor(given.jobs) as pool:
            return show([row for rows in pool.map(rows_of, given.names) for row in rows])


if __name__ == "__main__":
    from result_file import run

    run(main, "graphmend", is_markdown=True)
