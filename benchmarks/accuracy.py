#!/usr/bin/env python3
"""Print the accuracy of `breakscope check` as Markdown tables, with the date and the versions.

    accuracy.py --corpus FOLDER TRUTH.json --zoo SITE_PACKAGES TRUTH.json [--torch V ... --matrix MATRIX.json] [--places]

--corpus  a folder of small programs, checked as `breakscope check FOLDER --entry '*::make'`
--zoo     libraries unpacked in a folder, of which the files that the measured models ran are checked; may be repeated
--torch   with --matrix: also how the small programs are judged for these torch versions
--places  list every miss and false alarm

The unit is the simple statement, or the header of a compound one.
recall     measured break sites that a finding of kind "break" touches
precision  statements with such a finding that hold a measured site, among those that the measured runs executed:
           code that no run reached is neither right nor wrong
hazards    programs that recompile and have a finding of kind "recompile"; clean programs that have one are false alarms

Findings that are only `possible` are hidden by default and count as not said. benchmarks/truth.py says what the files hold.
"""

from __future__ import annotations

import argparse
import platform
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(Path(__file__).resolve().parent)]

from truth import Cause, Truth, read_libraries, read_programs

from breakscope import __version__
from breakscope.report.combining.statements import Statements
from breakscope.report.model import Finding, Report, from_json


@dataclass
class Score:
    """What a check got right and wrong; places are (file, first line of the statement)."""

    truth: Truth
    torch: str
    found: dict[tuple[str, int], Cause] = field(default_factory=dict)
    missed: dict[tuple[str, int], Cause] = field(default_factory=dict)
    right: dict[tuple[str, int], str] = field(default_factory=dict)  # the rule's code
    wrong: dict[tuple[str, int], str] = field(default_factory=dict)
    # found sites with an id: is it among the finding's
    named: dict[tuple[str, int], bool] = field(default_factory=dict)
    silent: list[str] = field(default_factory=list)  # recompiling programs without a finding
    crying: dict[str, str] = field(default_factory=dict)  # clean programs with one: its code

    @property
    def sites(self) -> int:
        return len(self.found) + len(self.missed)

    def recall(self) -> str:
        return share(len(self.found), self.sites)

    def precision(self) -> str:
        return share(len(self.right), len(self.right) + len(self.wrong))

    def hazards(self) -> str:
        programs = len(self.truth.recompiling)
        return f"{programs - len(self.silent)}/{programs}" if programs else "not measured"

    def false_hazards(self) -> str:
        return f"{len(self.crying)}/{len(self.truth.clean)}" if self.truth.clean else "not measured"

    def ids(self) -> str:
        return f"{sum(self.named.values())}/{len(self.named)}" if self.named else "has no ids"


def share(part: int, whole: int) -> str:
    return f"{part / max(1, whole):.3f} ({part}/{whole})"


def check(arguments: list[str], torch: str) -> Report:
    """Run `breakscope check` in a process of its own; what it could not read is said on stderr."""
    command = [
        sys.executable,
        "-m",
        "breakscope",
        "check",
        "--no-cache",
        *arguments,
        "--format",
        "json",
    ]
    command += ["--torch", torch] if torch else []
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if not done.stdout:
        sys.exit(f"check ended with {done.returncode}: {done.stderr.strip()[-500:]}")
    report = from_json(done.stdout.encode())
    for error in report.errors:
        print(f"not checked: {error.path}: {error.message}", file=sys.stderr)
    return report


def findings_by_file(report: Report, root: Path, kind: str) -> dict[str, list[Finding]]:
    found: dict[str, list[Finding]] = {}
    for finding in report.findings:
        path = (ROOT / finding.path).resolve()
        if finding.kind == kind and path.is_relative_to(root):
            found.setdefault(path.relative_to(root).as_posix(), []).append(finding)
    return found


def score(truth: Truth, report: Report) -> Score:
    result = Score(truth, report.torch)
    breaks = findings_by_file(report, truth.root, "break")
    for file in truth.files:
        score_file(result, file, Statements.of_file(str(truth.root / file)), breaks.get(file, []))
    warned = findings_by_file(report, truth.root, "recompile")
    result.silent = [
        name for name, files in truth.recompiling.items() if not any(f in warned for f in files)
    ]
    for name, files in truth.clean.items():
        codes = [finding.code for file in files for finding in warned.get(file, ())]
        if codes:
            result.crying[name] = codes[0]
    return result


def score_file(result: Score, file: str, statements: Statements, findings: list[Finding]) -> None:
    measured: dict[tuple, Cause] = {}
    for line, cause in result.truth.sites.get(file, {}).items():
        measured.setdefault(statements.around(line), cause)
    said: dict[tuple, list[Finding]] = {}
    for finding in findings:
        for span in statements.touched(finding.line, finding.end_line):
            said.setdefault(span, []).append(finding)
    for span, cause in measured.items():
        place = (file, span[0])
        (result.found if span in said else result.missed)[place] = cause
        if span in said and cause.gb_id:
            result.named[place] = any(cause.gb_id in finding.dynamo for finding in said[span])
    for span, here in said.items():
        if span in measured:
            result.right[file, span[0]] = here[0].code
        elif not result.truth.ran.get(file, set()).isdisjoint(range(span[0], span[1] + 1)):
            result.wrong[file, span[0]] = here[0].code


def print_heading(scores: list[Score]) -> None:
    done = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    commit = f" ({done.stdout.strip()})" if done.returncode == 0 else ""
    judged = ", ".join(dict.fromkeys(s.torch for s in scores))
    print(
        f"Measured on {time.strftime('%Y-%m-%d')} with breakscope {__version__}{commit}, judging by the tables of "
        f"torch {judged}, Python {platform.python_version()}.\n"
    )


def print_scores(scores: list[Score]) -> None:
    print(
        "| what | break sites found | breaks claimed, right | recompile hazards found | false hazards on clean ones |"
    )
    print("|---|---|---|---|---|")
    for s in scores:
        print(
            f"| {s.truth.what} | {s.recall()} | {s.precision()} | {s.hazards()} | {s.false_hazards()} |"
        )


def print_causes(scores: list[Score]) -> None:
    """By Dynamo's id: how many of the measured sites were found."""
    found = Counter(cause for s in scores for cause in s.found.values())
    missed = Counter(cause for s in scores for cause in s.missed.values())
    words = {c.gb_id: c.words for c in [*missed, *found] if c.words}
    by_id = {c.gb_id: [0, 0] for c in [*found, *missed]}
    for place, counts in enumerate((found, missed)):
        for cause, count in counts.items():
            by_id[cause.gb_id][place] += count
    print("\n| cause | Dynamo's words | sites found |\n|---|---|---|")
    rows = sorted(by_id.items(), key=lambda row: (-sum(row[1]), row[0]))
    for gb_id, (hits, misses) in rows:
        if hits + misses > 2 or misses:
            print(f"| {gb_id or 'no id'} | {words.get(gb_id, '')} | {hits}/{hits + misses} |")
    rest = [counts for _, counts in rows if sum(counts) <= 2 and not counts[1]]
    if rest:
        print(f"| {len(rest)} others | | {sum(c[0] for c in rest)}/{sum(map(sum, rest))} |")


def print_rules(scores: list[Score]) -> None:
    """Per rule: how many of the statements that it claims to break do."""
    right = Counter(code for s in scores for code in s.right.values())
    wrong = Counter(code for s in scores for code in s.wrong.values())
    print("\n| rule | breaks claimed, right |\n|---|---|")
    rows = sorted({*right, *wrong}, key=lambda code: (-right[code] - wrong[code], code))
    shown = [code for code in rows if wrong[code] or right[code] > 2]
    for code in shown:
        print(f"| {code} | {right[code]}/{right[code] + wrong[code]} |")
    rest = sum(right[code] for code in rows if code not in shown)
    print(f"| {len(rows) - len(shown)} others | {rest}/{rest} |")
    crying = Counter(code for s in scores for code in s.crying.values())
    print(
        "\nFalse hazards by rule: "
        + (", ".join(f"{code} {n}" for code, n in crying.most_common()) or "none")
    )


def print_places(scores: list[Score]) -> None:
    for s in scores:
        print(f"\n{s.truth.what}, torch {s.torch}:\n")
        rows = [
            f"- missed {file}:{line} {cause.gb_id} {cause.words}"
            for (file, line), cause in sorted(s.missed.items(), key=str)
        ]
        rows += [f"- missed recompile of {name}" for name in s.silent]
        rows += [
            f"- false alarm {file}:{line} {code}" for (file, line), code in sorted(s.wrong.items())
        ]
        rows += [f"- false hazard {name} {code}" for name, code in s.crying.items()]
        rows += [
            f"- another id {file}:{line} {s.found[file, line].gb_id}"
            for (file, line), ok in s.named.items()
            if not ok
        ]
        rows += [f"- not there, left out: {name}" for name in s.truth.absent]
        print("\n".join(rows) or "- nothing missed, no false alarm")


def print_versions(scores: list[Score]) -> None:
    print(
        "\n| torch | break sites found | breaks claimed, right | hazards found | false hazards | ids right |"
    )
    print("|---|---|---|---|---|---|")
    for s in scores:
        print(
            f"| {s.truth.torch} | {s.recall()} | {s.precision()} | {s.hazards()} | {s.false_hazards()} | {s.ids()} |"
        )


def versions(corpus: list[Path], matrix: Path, wanted: list[str]) -> list[Score]:
    found = []
    for torch in wanted:
        try:
            truth = read_programs(corpus[0], corpus[1], matrix, torch)
        except KeyError:
            sys.exit(f"{matrix} does not say what torch {torch} does")
        found.append(score(truth, check_programs(truth, torch)))
    return found


def check_programs(truth: Truth, torch: str) -> Report:
    return check([str(truth.root), "--entry", "*::make"], torch)


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpus", nargs=2, type=Path, metavar=("FOLDER", "TRUTH"))
    parser.add_argument(
        "--zoo", nargs=2, type=Path, metavar=("FOLDER", "TRUTH"), action="append", default=[]
    )
    parser.add_argument("--torch", nargs="+", metavar="V", default=[])
    parser.add_argument("--matrix", type=Path)
    parser.add_argument("--places", action="store_true")
    options = parser.parse_args()
    if not options.corpus and not options.zoo:
        parser.error("give --corpus or --zoo")
    if bool(options.torch) != bool(options.matrix) or (options.torch and not options.corpus):
        parser.error("--torch, --matrix and --corpus belong together")
    for path in (
        p for pair in ([options.corpus] if options.corpus else []) + options.zoo for p in pair
    ):
        if not path.exists():
            parser.error(f"{path} does not exist")
    return options


def main() -> None:
    options = parsed()
    scores = []
    if options.corpus:
        truth = read_programs(*options.corpus)
        scores.append(score(truth, check_programs(truth, "")))
    for folder, file in options.zoo:
        truth = read_libraries(folder, file)
        scores.append(score(truth, check([str(truth.root / name) for name in truth.files], "")))
    print_heading(scores)
    print_scores(scores)
    print_causes(scores)
    print_rules(scores)
    by_version = versions(options.corpus, options.matrix, options.torch) if options.torch else []
    if by_version:
        print_versions(by_version)
    if options.places:
        print_places([*scores, *by_version])


if __name__ == "__main__":
    from result_file import run

    run(main, "accuracy", is_markdown=True)
