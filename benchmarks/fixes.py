"""How many breaking programs end with no break and the same results, once they are fixed.

    python benchmarks/fixes.py CASES [--truth FILE] [--unproven] [--jobs N] [--limit S] [--only NAME...]

CASES is a folder of programs with `make()`, and `calls()` where one call is not enough; the truth
file (`truth.json` beside the folder) says which of them break, in which files, and of what kind they
are. Each breaking program is copied and fixed by `breakscope fix --unsafe-fixes --verify FILE::make`,
within `--limit` seconds; with `--unproven` without a proof, which takes a tenth of the time. Then
same_results.py, which has nothing of breakscope's, runs both forms: outputs, gradients, arguments,
exceptions and random streams have to be equal. Exit code 1 when those of a fixed program are not.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path

from same_results import judged

ROOT = Path(__file__).resolve().parents[1]
BREAKSCOPE = [sys.executable, "-P", "-m", "breakscope"]


@dataclass
class Outcome:
    """What became of one program. `left` are the breaks of the fixed form under Dynamo."""

    name: str
    category: str
    before: int = 0
    left: int = 0
    fixes: list[str] = field(default_factory=list)
    lines: int = 0  # changed
    other_results: str = ""
    reasons: list[str] = field(default_factory=list)
    error: str = ""

    @property
    def is_done(self) -> bool:
        return bool(self.fixes) and not (self.left or self.other_results or self.error)


def fixed(name: str, truth: dict, cases: Path, work: Path, given: argparse.Namespace) -> Outcome:
    """Fix a copy of one program."""
    outcome = Outcome(name, truth["category"])
    copy_of(cases, work)
    files = truth.get("files") or [f"{name}.py"]
    options = ["--unsafe-fixes", "--no-cache", "--format", "json", "--entry", f"{name}.py::make"]
    if not given.unproven:
        options += ["--verify", f"{name}.py::make"]
        options += ["--calls", "calls"] if has_calls(work / f"{name}.py") else []
    try:
        done = subprocess.run(
            [*BREAKSCOPE, "fix", *files, *options],
            cwd=work,
            capture_output=True,
            text=True,
            timeout=given.limit,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        report = json.loads(done.stdout)
    except (subprocess.TimeoutExpired, ValueError) as problem:
        copy_of(cases, work)
        outcome.error = f"{type(problem).__name__}: {problem}"[:200]
        return outcome
    fixes = report["fixes"]
    outcome.fixes = [place["code"] for place in fixes["fixed"]]
    outcome.lines = sum(
        line[:1] in "+-" and line[:3] not in ("+++", "---")
        for changed in fixes["files"]
        for line in changed["diff"].splitlines()
    )
    outcome.reasons = [f"{p['code']}: {p['reason']}" for p in fixes["not_fixed"]]
    if report["errors"]:
        outcome.error = report["errors"][0]["message"]
    return outcome


def copy_of(cases: Path, work: Path) -> None:
    """The programs and what lies beside them, each file writable."""
    shutil.rmtree(work, ignore_errors=True)
    for source in cases.rglob("*"):
        if source.is_file() and "__pycache__" not in source.parts:
            target = work / source.relative_to(cases)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(source.read_bytes())


def judge(outcome: Outcome, cases: Path, work: Path) -> None:
    """Run both forms, and note what they show."""
    found = judged(cases / f"{outcome.name}.py", work / f"{outcome.name}.py")
    outcome.before, outcome.left = found.before, found.after
    if outcome.fixes:
        outcome.other_results = found.difference
    outcome.reasons += [f"Dynamo: {reason}" for reason in found.reasons]


def has_calls(file: Path) -> bool:
    tree = ast.parse(file.read_bytes())
    return any(isinstance(node, ast.FunctionDef) and node.name == "calls" for node in tree.body)


def show(outcomes: list[Outcome]) -> None:
    """By cause, and what has other results."""
    by_category: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        by_category[outcome.category].append(outcome)
    print(
        f"{'cause':<24}{'programs':>9}{'fixed':>7}{'no break':>10}{'breaks':>8}{'left':>6}"
        f"{'other results':>15}"
    )
    for category, found in sorted(by_category.items(), key=lambda item: -len(item[1])):
        print(row(category, found))
    print(row("all", outcomes))
    done = sum(outcome.is_done for outcome in outcomes)
    print(f"\n{done} of {len(outcomes)} breaking programs end with no break and the same results")
    for outcome in outcomes:
        if outcome.other_results:
            print(f"OTHER RESULTS {outcome.name}: {outcome.other_results}")
    for outcome in outcomes:
        if outcome.error:
            print(f"error {outcome.name}: {outcome.error}")
    reasons = Counter(reason for o in outcomes if not o.is_done for reason in set(o.reasons))
    print("\nwhat was not fixed, by reason and number of programs:")
    for reason, number in reasons.most_common(40):
        print(f"{number:>5}  {reason}")


def row(name: str, found: list[Outcome]) -> str:
    fixed = sum(bool(outcome.fixes) for outcome in found)
    done = sum(outcome.is_done for outcome in found)
    other = sum(bool(outcome.other_results) for outcome in found)
    before, left = (sum(getattr(o, field) for o in found) for field in ("before", "left"))
    return f"{name:<24}{len(found):>9}{fixed:>7}{done:>10}{before:>8}{left:>6}{other:>15}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", type=Path)
    parser.add_argument("--truth", type=Path)
    parser.add_argument("--unproven", action="store_true", help="apply fixes without a proof")
    parser.add_argument("--jobs", type=int, default=1, help="programs that are fixed at a time")
    parser.add_argument("--limit", type=int, default=300, help="seconds for one program")
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--output", type=Path, help="a JSON file, written as programs are done")
    parser.add_argument("--copies", type=Path, help="a folder that keeps the fixed programs")
    given = parser.parse_args()
    cases = given.cases.resolve()
    truth = json.loads((given.truth or cases.parent / "truth.json").read_text())
    names = sorted(name for name, facts in truth.items() if facts["breaks"])
    names = [name for name in names if not given.only or name in given.only]
    outcomes = []
    with tempfile.TemporaryDirectory() as temporary, ThreadPoolExecutor(given.jobs) as pool:
        folder = (given.copies or Path(temporary)).resolve()
        work = {n: pool.submit(fixed, n, truth[n], cases, folder / n, given) for n in names}
        for name, future in work.items():
            outcomes.append(future.result())
            judge(outcomes[-1], cases, folder / name)
            if sys.stderr.isatty():
                print(f"\r{len(outcomes)} of {len(names)} {name:<40}", end="", file=sys.stderr)
            if given.output:  # what is known if something ends it
                found = [asdict(outcome) for outcome in outcomes]
                given.output.write_text(json.dumps(found, indent=1))
    show(outcomes)
    return int(any(outcome.other_results for outcome in outcomes))


if __name__ == "__main__":
    from result_file import run

    run(main, "fixes")
