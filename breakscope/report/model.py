"""Finding and Report: the only facts that a renderer sees, and their JSON form.

Every path is relative to the working directory where that is possible, with forward slashes.
Lines count from 1; columns count characters from 1; end columns stand one past the last character.
Code in a text stands between backticks. What a program needs of a text is a field of its own. The
names and values of fields are a contract: they stay when the texts find better words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal, get_args

import msgspec

from breakscope.report.comparing.budget import Baseline, Budget
from breakscope.report.escaping import struct_json
from breakscope.report.fact import Cell, Elsewhere, Fact, Gap, Link, ReportError
from breakscope.report.fixes import Fixes
from breakscope.report.run_modes import (
    Divergence,
    Fake,
    ModuleCalls,
    Peeled,
    Process,
    Proved,
    Radar,
    Under,
)

SCHEMA_VERSION = "3"

QUOTED = r"`([^`]+)`"

Kind = Literal["break", "recompile", "usage", "performance", "error"]
Severity = Literal["error", "warning", "info"]
Confidence = Literal["certain", "likely", "possible"]
CONFIDENCES: tuple[str, ...] = get_args(Confidence)  # the surest first
Evidence = Literal["predicted", "confirmed", "observed", "refuted"]
SEEN = ("confirmed", "observed")  # by a run


class Edit(Fact):
    """Lines `line` to `end_line` of a file become `replacement` (whole lines, newline at the end)."""

    line: int
    end_line: int
    replacement: str

    def overlaps(self, other: Edit) -> bool:
        return self.line <= other.end_line and other.line <= self.end_line


class Fix(Fact):
    """A rewrite: lines `line` to `end_line` of the file become `replacement` (whole lines, newline
    at the end), with the edits in `also`; the file must have the `imports`. All of it or nothing.

    `safety` is "safe" when values and gradients stay the same for every input, else "unsafe".
    `changes` is one line on what it may change, "" where the rule's page says all. One that only
    removes a comment `drops` it.
    """

    safety: Literal["safe", "unsafe"]
    description: str
    line: int
    end_line: int
    replacement: str
    imports: tuple[str, ...] = ()
    also: tuple[Edit, ...] = ()
    changes: str = ""
    drops: str = ""


class Interval(Fact):
    """A 95 % interval."""

    low: float
    high: float


class Cost(Fact):
    """What a finding costs, in seconds; None when not measured, or smaller than the noise."""

    compile_seconds: float | None = None
    step_seconds: float | None = None  # of a steady step
    step_interval: Interval | None = None


class Inside(Fact):
    """The place inside an installed library that a prediction is about, whose finding stands at the
    checked line that enters the library."""

    message: str  # what breaks there, without the words on how it is entered
    brief: str = ""  # as `Finding.brief`
    # the calls from the entered function to the place, which is the last
    chain: tuple[Link, ...] = ()


class Finding(Fact):
    """One problem at one place, predicted from source, observed in a run, or both."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    code: str  # BRK203
    rule: str  # scalar-cast
    kind: Kind
    severity: Severity
    confidence: Confidence
    evidence: Evidence
    function: str  # qualified name of the enclosing function, "" at module level
    message: str  # one line, names the user's variable
    # the message without the words that every such finding has; "" where it has none of them
    brief: str = ""
    # the code that the message names, in order; with `inside`, that the message of that place names
    names: tuple[str, ...] = ()
    help: str = ""  # what to write instead, one line
    reason: str = ""  # Dynamo's own words, from a run
    dynamo: tuple[str, ...] = ()  # GB ids, or guard families of a recompile
    guard: str = ""  # the guard's text, of an observed recompile
    # of an observed recompile: what the guarded value was, as far as Dynamo shows it
    values: tuple[str, ...] = ()
    # what else breaks at this call, or how on this line, and has no finding of its own
    also: tuple[str, ...] = ()
    cause: str = ""  # of an observed recompile: what changed
    # of a recompile: what else changed in these calls, and would compile them again by itself
    other_causes: tuple[str, ...] = ()
    # of a recompile: after which call it was over, or that it goes on; "" where that is not known
    settled: str = ""
    # the calls from the region's entry to this site, when not obvious; of a recompile for which a
    # caller is the cause, from that caller, where the finding stands, to the compiled function; of
    # a prediction inside an installed library, through the finding's line to the place inside
    chain: tuple[Link, ...] = ()
    # further places of the same cause: breaks inside a package that one line leads to, functions or
    # lines with the same problem
    places: tuple[Link, ...] = ()
    # source of the test that decides whether this code runs, when configuration decides
    condition: str = ""
    backward: bool = False  # seen only while a backward pass ran
    library: str = ""  # the installed package whose code breaks
    inside: Inside | None = None  # of a prediction in it: where, and what
    # why Dynamo skips the whole frame, or (at "rest" and "recompile limit") what follows: "loop",
    # "try", "with", "assert", ...; "" when it continues in a new graph
    lost: str = ""
    # whose frame that is, where it is not `function` but one that called it
    lost_function: str = ""
    fix: Fix | None = None
    # why there is no fix, where the rule has one for other statements
    no_fix: str = ""
    cost: Cost | None = None
    # --peel: seen only after the breaks at these places were neutralised
    behind: tuple[Link, ...] = ()
    export: str = ""  # --export: why torch.export refuses this line
    # --explore: the answers under which it was seen, where it was not under others
    under: tuple[Under, ...] = ()
    host_syncs: int = 0  # on a GPU: how often this line makes the CPU wait for it in a steady step
    count: int = 0  # events seen in a run; 0 when only predicted, or only seen behind others
    first_source_line: int = 0  # number of the first line of `source`
    source: tuple[str, ...] = ()  # the source frame: the lines around the site, without newlines
    # of a notebook: where in which cell; lines and columns above are those of the file, `source` and
    # the lines of `fix` those of the cell
    cell: Cell | None = None

    def __repr__(self) -> str:
        return f"<Finding {self.code} {self.path}:{self.line}:{self.column} {self.evidence}>"

    def place(self) -> tuple[str, int, int, str]:
        """Sort key: path, line, column, code."""
        return (self.path, self.line, self.column, self.code)


class Graph(Fact):
    """One captured graph of a run."""

    compile_id: str  # "0/0", "1/0_1"
    function: str
    path: str
    line: int
    ops: int
    op_names: tuple[str, ...] = ()


class Recompile(Fact):
    """One recompile of a run: which frame, the guard that failed, and the user's line that it goes
    back to."""

    compile_id: str
    function: str
    path: str
    line: int
    family: str
    guard: str
    count: int = 1
    cause: str = ""  # what changed, in plain words
    other_causes: tuple[str, ...] = ()  # as `Finding.other_causes`
    seconds: float = 0.0  # of this compile
    site_path: str = ""  # "" when no line of the user's is known
    site_line: int = 0
    call: int = 0  # in which call of the run, from 1 on; 0 where the calls are not ours
    after_seconds: float | None = None  # after the first compile began; None where not known
    varied: bool = False  # the run itself changed the batch size, which compiles again once


class Restart(Fact):
    """A compile that Dynamo began again from the top of the frame: once for most breaks, and for a
    few other reasons."""

    compile_id: str
    function: str
    path: str
    line: int
    reasons: tuple[str, ...]
    seconds: float = 0.0  # what the attempts before the last one took


class SkippedFrame(Fact):
    """A frame that Dynamo skips: it runs eagerly, without a message."""

    function: str
    path: str
    line: int
    why: str  # as `Finding.lost`; "skipped" when no break is the cause
    reason: str = ""  # Dynamo's own words
    resumed_at: int = 0  # where only what follows this line is skipped


class CudaGraph(Fact):
    """A CUDA graph that inductor left out, or recorded again, and why; at the user's line where
    torch names one."""

    kind: Literal["skipped", "recorded again"]
    reason: str
    path: str = ""
    line: int = 0
    function: str = ""
    count: int = 1


class HostSync(Fact):
    """A place where a step makes the CPU wait for the GPU, `count` times; without a path where no
    line of the user's led there, then `function` may say "backward pass"."""

    path: str = ""
    line: int = 0
    function: str = ""
    code: str = ""  # of that line
    count: int = 1


class Run(Fact):
    """What a run was and saw, whatever its findings."""

    target: str  # FILE::NAME; of a traced program its command line, of a trace the file or folder
    status: Literal["ok", "failed", "timeout", "killed", "no-capture", "not-run"]
    device: str
    backend: str
    torch_version: str
    python_version: str
    calls: int = 0
    backward: bool = False
    graphs: tuple[Graph, ...] = ()
    recompiles: tuple[Recompile, ...] = ()
    lost_frames: tuple[SkippedFrame, ...] = ()
    restarts: tuple[Restart, ...] = ()
    cuda_graphs: tuple[CudaGraph, ...] = ()
    # of a steady step on a GPU; None when not listened for
    host_syncs: tuple[HostSync, ...] | None = None
    compile_seconds: float = 0.0
    share_compiled: float | None = None  # share of op time inside compiled graphs, 0 to 1
    # of all breaks of the target together: a step with them, less the same as one graph
    breaks_cost: Cost | None = None
    # the break of the self-test was seen, or a trace holds compiles: then no finding means clean
    capture_checked: bool = False
    processes: tuple[Process, ...] = ()  # of a traced program
    divergence: Divergence | None = None  # where its ranks diverge
    modules: tuple[ModuleCalls, ...] | None = None  # what --compile captured
    peeled: Peeled | None = None  # what --peel did
    proved: Proved | None = None  # what --prove did
    radar: Radar | None = None  # what --radar found
    fake: Fake | None = None  # what --fake assumed
    exit_code: int | None = None  # of a traced program, as a shell would show it
    notes: tuple[str, ...] = ()


class Report(Fact):
    """All that one command found."""

    version: str  # of breakscope
    torch: str  # the torch version whose behaviour was assumed, or seen in the run
    findings: tuple[Finding, ...] = ()
    errors: tuple[ReportError, ...] = ()
    gaps: tuple[Gap, ...] = ()  # where the analysis of source gave up
    files: int = 0  # files checked
    regions: int = 0  # compiled regions analysed
    run: Run | None = None
    missed: int = 0  # sites that the run saw and static analysis did not predict
    refuted: int = 0  # predictions that the run showed to be wrong
    notes: tuple[str, ...] = ()  # what a reader should know of the analysis of source as a whole
    hidden: int = 0  # findings left out: possible, refuted, suppressed or deselected
    elsewhere: tuple[Elsewhere, ...] = ()  # those that stand in files which were not asked for
    fixes: Fixes | None = None  # what `fix` did; the findings are those that remain
    budgets: tuple[Budget, ...] = ()  # what was allowed, and whether it was kept
    baseline: Baseline | None = None  # what was known before; the findings are the others
    schema: str = SCHEMA_VERSION

    def __repr__(self) -> str:
        counts = f"breaks={len(self.breaks)} recompiles={len(self.recompiles)}"
        others = f"findings={len(self.findings)} errors={len(self.errors)}"
        return f"<Report {counts} {others} torch={self.torch!r}>"

    @property
    def breaks(self) -> tuple[Finding, ...]:
        """The findings that are graph breaks."""
        return tuple(finding for finding in self.findings if finding.kind == "break")

    @property
    def recompiles(self) -> tuple[Finding, ...]:
        """The findings that are recompiles."""
        return tuple(finding for finding in self.findings if finding.kind == "recompile")


def in_order(values: Iterable[str]) -> tuple[str, ...]:
    """A finding's values: numbers by size, anything else as it came."""
    values = tuple(values)
    try:
        return tuple(sorted(values, key=float))
    except ValueError:
        return values


def code_in(message: str) -> tuple[str, ...]:
    """A finding's names: the code in its message, for those who make findings."""
    return tuple(re.findall(QUOTED, message))


def to_json(report: Report) -> bytes:
    """The report as UTF-8 JSON with a newline at the end; a byte of a file name that is no UTF-8
    stands in it as `\\xff`."""
    return struct_json(report)


def from_json(data: bytes) -> Report:
    """Read what `to_json` wrote, in schemas 1 and 2 too; raises ValueError that names the wrong field, or
    the schema of a later breakscope."""
    report = msgspec.json.decode(data, type=Report)  # msgspec.ValidationError is a ValueError
    if report.schema == SCHEMA_VERSION:
        return report
    if report.schema == "2":  # it had no fixes, and of a fix one place
        return msgspec.structs.replace(report, schema=SCHEMA_VERSION)
    if report.schema == "1":
        return _from_first_schema(report)
    raise ValueError(f"its schema is {report.schema!r}, and this breakscope reads 1 to 3")


def _from_first_schema(report: Report) -> Report:
    """It had no `brief`, `names` and `inside`, and `backward` as a text among the conditions."""
    backward = "only in the backward pass"
    findings = tuple(
        msgspec.structs.replace(
            finding,
            names=code_in(finding.message),
            condition="" if finding.condition == backward else finding.condition,
            backward=finding.condition == backward,
        )
        for finding in report.findings
    )
    return msgspec.structs.replace(report, findings=findings, schema=SCHEMA_VERSION)
