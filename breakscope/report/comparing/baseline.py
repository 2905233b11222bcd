"""What was there before: a file of known findings, and of what runs did, against which only news
count."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

import msgspec
from msgspec.structs import replace

from breakscope.report.combining.identity import Identity, identity, same
from breakscope.report.comparing.budget import Baseline, Budget, Stale
from breakscope.report.comparing.judging import breaks, functions_compiled
from breakscope.report.escaping import struct_json
from breakscope.report.fact import Fact
from breakscope.report.model import Finding, Report, Run
from breakscope.report.summary import count

SCHEMA_VERSION = "1"
DEFAULT_FILE = "breakscope-baseline.json"


class Entry(Identity):
    """A known finding. `path` is relative to the folder of the baseline; one that is only `possible`
    is not missed where such are not asked for."""

    possible: bool = False


class KnownRun(Fact):
    """What a run of a target did. `coverage` is the percentage of the functions that Dynamo met which
    have no skipped frame, None where it met none: the share of time is another in each run."""

    target: str
    breaks: int
    recompiles: int
    skipped_frames: int
    coverage: float | None = None


class KnownBefore(Fact):
    """What a baseline's file holds."""

    findings: tuple[Entry, ...] = ()
    runs: tuple[KnownRun, ...] = ()
    schema: str = SCHEMA_VERSION


class Scope(msgspec.Struct, frozen=True, kw_only=True):
    """What a report looked at: only of that a baseline can miss something. `asked` are the checked
    files, None where a run or a trace decided; `shows` is true of a code and path that was not
    left out; without `possible` such findings were."""

    asked: frozenset[str] | None = None
    shows: Callable[[str, str], bool] = lambda code, path: True
    possible: bool = False


def read(data: bytes) -> KnownBefore:
    """A baseline's file; raises ValueError."""
    known = msgspec.json.decode(data, type=KnownBefore)
    if known.schema != SCHEMA_VERSION:
        raise ValueError(f"its schema is {known.schema!r}, and this breakscope reads 1")
    return known


def written(known: KnownBefore) -> bytes:
    """The file: an entry a line, sorted, so that two branches that change it can be merged."""

    def lines(facts: Iterable[Fact]) -> str:
        texts = [struct_json(fact, 0).decode().strip() for fact in facts]
        return ",\n".join(texts) and "\n" + ",\n".join(f"  {text}" for text in texts) + "\n "

    return (
        f'{{"schema": "{known.schema}",\n "findings": [{lines(known.findings)}],\n'
        f' "runs": [{lines(known.runs)}]}}\n'
    ).encode()


def compared(report: Report, known: KnownBefore, file: str, scope: Scope) -> Report:
    """The report with its news only, and what a baseline in `file` says of the rest."""
    entries = [_from_here(entry, file) for entry in known.findings]
    shown = [f for f in report.findings if f.evidence != "refuted"]
    paths = {finding.path for finding in shown}
    near = [e for e in entries if e.path in paths or _is_looked_at(e, scope)]
    pairs = same(near, [identity(finding) for finding in shown])
    old = {id(shown[j]) for _, j in pairs}
    met = {i for i, _ in pairs}
    stale = [e for i, e in enumerate(near) if i not in met and _is_missed(e, scope)]
    return replace(
        report,
        findings=tuple(f for f in report.findings if id(f) not in old),
        baseline=Baseline(
            path=file,
            known=len(old),
            stale=tuple(
                Stale(path=e.path, code=e.code, function=e.function, content=e.content)
                for e in stale
            ),
            budgets=tuple(_budgets(report, known)),
        ),
    )


def renewed(report: Report, known: KnownBefore, file: str, scope: Scope) -> KnownBefore:
    """The baseline with what the report holds. Entries of what it did not look at stay, all others
    that it does not hold go."""
    shown = [f for f in report.findings if f.evidence != "refuted"]
    entries = [_from_here(entry, file) for entry in known.findings]
    pairs = same(entries, [identity(finding) for finding in shown])
    met = {i for i, _ in pairs}
    kept = [e for i, e in enumerate(entries) if i not in met and not _is_missed(e, scope)]
    found = [*kept, *(_entry(finding) for finding in shown)]
    runs = {run.target: run for run in known.runs}
    if report.run is not None and report.run.status == "ok":
        runs[report.run.target] = _run(report, report.run)
    return KnownBefore(
        findings=tuple(sorted((_from_there(e, file) for e in found), key=_order)),
        runs=tuple(runs[target] for target in sorted(runs)),
    )


def _entry(finding: Finding) -> Entry:
    possible = finding.confidence == "possible" and finding.evidence == "predicted"
    return Entry(**msgspec.structs.asdict(identity(finding)), possible=possible)


def _is_looked_at(entry: Entry, scope: Scope) -> bool:
    """True where the entry's file was checked, or is there no more: then what it says may have gone
    to another file."""
    return (scope.asked is not None and entry.path in scope.asked) or not os.path.exists(entry.path)


def _is_missed(entry: Entry, scope: Scope) -> bool:
    """True where the report would hold it if it was still there."""
    return (
        scope.asked is not None
        and _is_looked_at(entry, scope)
        and scope.shows(entry.code, entry.path)
        and (scope.possible or not entry.possible)
    )


def _from_here(entry: Entry, file: str) -> Entry:
    """The entry with the path that findings have."""
    path = os.path.join(os.path.dirname(os.path.abspath(file)), entry.path)
    shown = os.path.relpath(path)
    shown = os.path.abspath(path) if shown.startswith("..") else shown
    return replace(entry, path=shown.replace(os.sep, "/"))


def _from_there(entry: Entry, file: str) -> Entry:
    folder = os.path.dirname(os.path.abspath(file))
    return replace(entry, path=os.path.relpath(entry.path, folder).replace(os.sep, "/"))


def _order(entry: Entry) -> tuple:
    return (entry.path, entry.line, entry.code, entry.content)


def _run(report: Report, run: Run) -> KnownRun:
    share = functions_compiled(run)
    return KnownRun(
        target=run.target,
        breaks=breaks(report),
        recompiles=len(run.recompiles),
        skipped_frames=len(run.lost_frames),
        coverage=None if share is None else round(share, 1),
    )


def _budgets(report: Report, known: KnownBefore) -> Iterable[Budget]:
    """What the run did against what it did before, where the baseline has the same target."""
    runs: dict[str, KnownRun] = {run.target: run for run in known.runs}
    if report.run is None or report.run.target not in runs:
        return
    before, now = runs[report.run.target], _run(report, report.run)
    for name, unit, was, found in (
        ("baseline-breaks", "break", before.breaks, now.breaks),
        ("baseline-recompiles", "recompile", before.recompiles, now.recompiles),
        ("baseline-skipped-frames", "skipped frame", before.skipped_frames, now.skipped_frames),
    ):
        what = f"{count(found, unit)}, {was} in the baseline"
        yield Budget(
            name=name, unit=f"{unit}s", limit=was, found=found, kept=found <= was, what=what
        )
    if before.coverage is not None and now.coverage is not None:
        yield Budget(
            name="baseline-coverage",
            unit="percent",
            limit=before.coverage,
            found=now.coverage,
            kept=now.coverage >= before.coverage,
            what=f"{now.coverage:.0f}% of functions without a skipped frame, {before.coverage:.0f}% in the baseline",
        )
