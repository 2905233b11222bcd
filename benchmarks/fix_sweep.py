"""Fixes whole folders of files in memory, and looks at what comes out.

    python benchmarks/fix_sweep.py [--jobs N] [--most-files N] [--mutants N] [--seed N] [FOLDER...]

Every file of the folders (the samples when none is given; `torch.nn` names that of the installed
torch, `transformers` that package) is fixed with all fixes. Each result has to parse, to have every
comment, to differ from the file in the lines of fixed statements and imports only, and to stay the
same when it is fixed again. Mutants of the files (lines left out, doubled or swapped) must not end
in an error of ours. Folders of installed packages are copied first: what is installed is never fixed.
"""

from __future__ import annotations

import argparse
import ast
import io
import random
import shutil
import sys
import tempfile
import tokenize
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from importlib.util import find_spec
from itertools import islice
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from breakscope.fixes import Fixed, FixOptions, fixed_sources
from breakscope.static import StaticOptions
from breakscope.static.project.source import decode, split_lines


@dataclass
class Outcome:
    """What became of one file."""

    path: str
    fixes: Counter = field(default_factory=Counter)
    declined: Counter = field(default_factory=Counter)
    changed: bool = False
    problems: list[str] = field(default_factory=list)


def sweep(files: Iterable[Path], jobs: int) -> list[Outcome]:
    """Every file by itself."""
    with ProcessPoolExecutor(jobs) as pool:
        return list(pool.map(outcome_of, map(str, files), chunksize=8))


def outcome_of(path: str) -> Outcome:
    """Fix one file in memory, twice."""
    outcome = Outcome(path)
    try:
        fixed = fixed_sources([path], StaticOptions(libraries=False), FixOptions(unsafe=True))
        outcome.fixes = Counter(applied.finding.code for applied in fixed.applied)
        outcome.declined = Counter(declined.reason for declined in fixed.declined)
        outcome.changed = bool(fixed.new)
        outcome.problems = problems_of(fixed)
    except Exception as problem:
        outcome.problems = [f"raises {type(problem).__name__}: {problem}"]
    return outcome


def problems_of(fixed: Fixed) -> list[str]:
    """What is wrong with the rewritten files."""
    found = [] if fixed.complete else ["is not done after the most passes"]
    for path, new in fixed.new.items():
        old = fixed.old[path]
        try:
            ast.parse(new)
        except (SyntaxError, ValueError) as problem:
            found.append(f"does not parse: {problem}")
            continue
        missing = comments(old) - comments(new)
        if missing:
            found.append(f"lost the comment {next(iter(missing))!r}")
        found += lines_beside(fixed, path)
        again = fixed_again(path, new)
        if again.new:
            codes = ", ".join(sorted({a.finding.code for a in again.applied}))
            found.append(f"changes when it is fixed again: {codes}")
    return found


def fixed_again(path: str, data: bytes) -> Fixed:
    """What fixing makes of a fixed file, which is put beside the original for that."""
    beside = Path(path).with_name(f"breakscope_again_{Path(path).name}")
    beside.write_bytes(data)
    try:
        return fixed_sources([str(beside)], StaticOptions(libraries=False), FixOptions(unsafe=True))
    finally:
        beside.unlink()


def comments(data: bytes) -> Counter:
    tokens = tokenize.tokenize(io.BytesIO(data).readline)
    return Counter(token.string for token in tokens if token.type == tokenize.COMMENT)


def lines_beside(fixed: Fixed, path: str) -> list[str]:
    """Changed lines of the original in no statement of a fix. What a later pass rewrote lies in the
    lines of an earlier one, or in lines that are as they were."""
    old = split_lines(decode(fixed.old[path]))
    new = split_lines(decode(fixed.new[path]))
    wanted: set[int] = set()
    for applied in fixed.applied:
        if applied.path != path:
            continue
        fix, shift = applied.finding.fix, applied.line - applied.finding.line
        for edit in (fix, *fix.also):
            wanted |= set(range(edit.line + shift, edit.end_line + shift + 1))
    found = []
    for kind, start, end, first, last in SequenceMatcher(None, old, new, False).get_opcodes():
        if kind == "equal":
            continue
        if kind == "insert" and all(is_import(line) for line in new[first:last]):
            continue
        lines = set(range(start + 1, end + 1)) or {start + 1, code_above(old, start)}
        if kind == "insert" and lines & wanted:
            continue
        if kind != "insert" and lines <= wanted:
            continue
        found.append(f"changes line {start + 1}, which no fix is about")
    return found


def code_above(lines: list[str], number: int) -> int:
    """The last line up to `number` that is not empty: what is put behind it may stand behind the
    empty lines that follow."""
    while number > 1 and not lines[number - 1].strip():
        number -= 1
    return number


def is_import(line: str) -> bool:
    return not line.strip() or line.startswith(("import ", "from "))


def mutants(files: list[Path], number: int, seed: int, folder: Path) -> list[Path]:
    """Files of the folders with lines left out, doubled or swapped."""
    draw, made = random.Random(seed), []
    for index in range(number):
        lines = draw.choice(files).read_bytes().splitlines(keepends=True)
        for _ in range(draw.randint(1, 4)):
            if len(lines) > 2:
                at = draw.randrange(len(lines) - 1)
                kind = draw.randrange(3)
                if kind == 0:
                    del lines[at]
                elif kind == 1:
                    lines.insert(at, lines[at])
                else:
                    lines[at], lines[at + 1] = lines[at + 1], lines[at]
        made.append(folder / f"mutant_{index}.py")
        made[-1].write_bytes(b"".join(lines))
    return made


def copied(name: str, into: Path) -> Path:
    """A folder's copy, where what is installed may be fixed."""
    spec = None if Path(name).exists() else find_spec(name)
    source = Path(name) if spec is None else Path(spec.origin).parent
    target = into / source.name
    shutil.copytree(
        source, target, ignore=shutil.ignore_patterns("__pycache__"), copy_function=shutil.copyfile
    )
    return target


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*", default=[str(ROOT / "samples")])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--most-files", type=int, default=1_000_000)
    parser.add_argument("--mutants", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    failed = False
    with tempfile.TemporaryDirectory() as temporary:
        for name in given.folders:
            folder = copied(name, Path(temporary))
            files = sorted(islice(folder.rglob("*.py"), given.most_files))
            failed |= show(name, sweep(files, given.jobs), folder)
            if given.mutants:
                place = Path(temporary) / "mutants"
                place.mkdir(exist_ok=True)
                made = mutants(files, given.mutants, given.seed, place)
                failed |= show(f"{given.mutants} mutants of {name}", sweep(made, given.jobs), place)
    return int(failed)


def show(name: str, outcomes: list[Outcome], folder: Path) -> bool:
    """Print the counts and what went wrong; whether something did."""
    fixes = sum((outcome.fixes for outcome in outcomes), Counter())
    changed = sum(outcome.changed for outcome in outcomes)
    bad = [(o, problem) for o in outcomes for problem in o.problems]
    print(
        f"{name}: {len(outcomes)} files, {changed} rewritten, {fixes.total()} fixes, {len(bad)} problems"
    )
    print("   ", ", ".join(f"{code} {number}" for code, number in fixes.most_common()))
    for outcome, problem in bad:
        print(f"    {Path(outcome.path).relative_to(folder)}: {problem}")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
