#!/usr/bin/env python3
"""Measure source analysis against a corpus: check_corpus.py FOLDER TRUTH.json

FOLDER holds programs with `make()`; TRUTH.json maps a program's name to what Dynamo did: `breaks` [{"file", "line"}],
`recompiles`, `verdict` ("clean", "break", "recompile"), `files`, `executed` {file: [lines]}. All of them are checked by one
`breakscope check FOLDER --entry '*::make'`, and its findings compared by statement.

recall     measured break sites that a finding touches
precision  findings on executed statements that touch a measured site, each statement once
hazards    programs that recompile and have a recompile finding; clean programs that have one are false alarms
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from breakscope.report.model import Report, from_json
from breakscope.report.statements import Statements


def checked(folder: Path) -> Report:
    command = [sys.executable, "-m", "breakscope", "check", str(folder), "--entry", "*::make", "--format", "json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"check ended with {done.returncode}: {done.stderr.strip()[-500:]}")
    return from_json(done.stdout.encode())


def spans_of(report: Report, folder: Path, kind: str, statements: dict[str, Statements]) -> dict[str, set]:
    """file -> the statements that findings of a kind touch."""
    found: dict[str, set] = defaultdict(set)
    for finding in report.findings:
        file = (ROOT / finding.path).resolve()
        if finding.kind == kind and file.is_relative_to(folder):
            name = file.relative_to(folder).as_posix()
            found[name] |= statements[name].touched(finding.line, finding.end_line)
    return found


def main() -> int:
    if len(sys.argv) != 3:
        sys.exit("usage: check_corpus.py FOLDER TRUTH.json")
    folder, truth = Path(sys.argv[1]).resolve(), json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))
    truth = {name: case for name, case in truth.items() if (folder / f"{name}.py").is_file()}
    report = checked(folder)
    names = {file for case in truth.values() for file in case["files"]}
    statements = {name: Statements.of_file(str(folder / name)) for name in names}
    measured: dict[str, set] = defaultdict(set)
    executed: dict[str, set] = defaultdict(set)
    for case in truth.values():
        for site in case["breaks"]:
            measured[site["file"]].add(statements[site["file"]].around(site["line"]))
        for lines in (case["executed"], case.get("executed_backward") or {}):
            for name, numbers in lines.items():
                executed[name] |= {statements[name].around(n) for n in numbers}
    flagged = spans_of(report, folder, "break", statements)
    sites = {(name, span) for name in names for span in measured[name]}
    said = {(name, span) for name in names for span in flagged[name]}
    judged = {(name, span) for name, span in said if span in executed[name] or (name, span) in sites}
    print(f"breaks, {len(truth)} programs: recall {len(sites & said)}/{len(sites)} ({len(sites & said) / max(1, len(sites)):.3f}), "
          f"precision {len(sites & judged)}/{len(judged)} ({len(sites & judged) / max(1, len(judged)):.3f})")
    hazards = spans_of(report, folder, "recompile", statements)
    warned = {name for name, case in truth.items() if any(hazards[file] for file in case["files"])}
    for verdict, words in (("recompile", "recompile hazards found"), ("clean", "false alarms on clean programs")):
        those = {name for name, case in truth.items() if case["verdict"] == verdict}
        print(f"{words}: {len(those & warned)}/{len(those)}")
    for name, span in sorted(sites - said):
        print(f"missed alarm  {name}:{span[0]}")
    for name, span in sorted(judged - sites):
        print(f"false alarm   {name}:{span[0]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
