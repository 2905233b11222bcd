#!/usr/bin/env python3
"""How much does source analysis say about a folder? noise.py PATH... [--sample N] [--seed S]
[--json FILE]

Checks the paths as `breakscope check` does, prints findings per 1,000 lines by code and confidence,
and a random sample of the findings that are shown by default, with their source and how they are
reached, for a reader to judge. The same seed gives the same sample of the same findings.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from breakscope.report.combining.repeats import grouped
from breakscope.report.formats._overview import blocks
from breakscope.report.model import CONFIDENCES, Finding, Report, to_json
from breakscope.static import StaticOptions, StaticResult, analyze
from breakscope.static.project.files import python_files


def table(result: StaticResult, lines: int) -> None:
    """Print findings per 1,000 lines, a row for each code."""
    print(
        f"{lines:,} lines, {result.files} files, {result.regions} regions, {len(result.findings)} findings; torch {result.torch}"
    )
    print(
        f"{'code':8} {'rule':34} {'all':>6} "
        + " ".join(f"{c:>9}" for c in CONFIDENCES)
        + "   per 1,000 lines"
    )
    by_code: dict[str, list[Finding]] = {}
    for finding in result.findings:
        by_code.setdefault(finding.code, []).append(finding)
    rows = sorted(by_code.items(), key=lambda row: -len(row[1]))
    for code, found in [*rows, ("all", list(result.findings))]:
        counts = Counter(f.confidence for f in found)
        name = found[0].rule if code != "all" and found else ""
        print(
            f"{code:8} {name:34} {len(found):6} "
            + " ".join(f"{counts[c]:9}" for c in CONFIDENCES)
            + f"   {len(found) * 1000 / max(1, lines):8.3f}"
        )
    shown = [f for f in result.findings if f.confidence != "possible"]
    listed = blocks(grouped(shown), is_grouped=True)
    for what, found in ("shown by default", shown), ("listed in a terminal", listed):
        print(f"{what}: {len(found)} ({len(found) * 1000 / max(1, lines):.3f} per 1,000 lines)")


def sample(result: StaticResult, count: int, seed: int) -> None:
    """Print `count` of the findings that are shown by default."""
    shown = [f for f in result.findings if f.confidence != "possible"]
    chosen = random.Random(seed).sample(shown, min(count, len(shown)))
    for number, f in enumerate(sorted(chosen, key=Finding.place), 1):
        condition = f", only when {f.condition}" if f.condition else ""
        print(
            f"\n{number}. {f.path}:{f.line}:{f.column} {f.code} {f.confidence}{condition}\n   {f.message}"
        )
        for at, text in enumerate(f.source, f.first_source_line):
            print(f"   {at:6} | {text}")
        if f.chain:
            print(
                "   reached from " + " -> ".join(f"{link.function}:{link.line}" for link in f.chain)
            )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--sample", type=int, default=0, metavar="N")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--torch", default=None, help="judge by this version")
    parser.add_argument("--json", type=Path, help="keep the report here")
    options = parser.parse_args()
    result = analyze(options.paths, StaticOptions(torch=options.torch))
    lines = sum(Path(path).read_bytes().count(b"\n") for path in python_files(options.paths))
    table(result, lines)
    sample(result, options.sample, options.seed)
    if options.json:
        report = Report(
            version="",
            torch=result.torch,
            findings=result.findings,
            errors=result.errors,
            files=result.files,
        )
        options.json.write_bytes(to_json(report))


if __name__ == "__main__":
    from result_file import run

    run(main, "findings-per-line")
