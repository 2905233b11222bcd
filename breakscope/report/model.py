"""Finding and Report: the only facts that a renderer sees, and their JSON form.

Every path is relative to the working directory where that is possible, with forward slashes.
Lines count from 1; columns count characters from 1; end columns stand one past the last character.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec

SCHEMA_VERSION = "1"

Kind = Literal["break", "recompile", "usage", "performance"]
Severity = Literal["error", "warning", "info"]
Confidence = Literal["certain", "likely", "possible"]
Evidence = Literal["predicted", "confirmed", "observed", "refuted"]


class Fact(msgspec.Struct, frozen=True, omit_defaults=False, kw_only=True):
    """Base of all facts: immutable, compared by value."""


class Link(Fact):
    """One step of a call chain, outermost first: `function` was entered at `path`:`line`."""

    path: str
    line: int
    function: str


class Fix(Fact):
    """A rewrite: lines `line` to `end_line` of the file become `replacement` (whole lines, newline at the end).

    `safety` is "safe" when values and gradients stay the same for every input, else "unsafe".
    """

    safety: Literal["safe", "unsafe"]
    description: str
    line: int
    end_line: int
    replacement: str


class Interval(Fact):
    """A 95 % interval."""

    low: float
    high: float


class Cost(Fact):
    """What a finding costs, where a run measured it; seconds, None when not measured or when noise hides it."""

    compile_seconds: float | None = None
    step_seconds: float | None = None  # of a steady step
    step_interval: Interval | None = None


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
    help: str = ""  # what to write instead, one line
    reason: str = ""  # Dynamo's own words, from a run
    dynamo: tuple[str, ...] = ()  # GB ids, or guard families of a recompile
    guard: str = ""  # the guard's text, of an observed recompile
    values: tuple[str, ...] = ()  # of an observed recompile: what the guarded value was, as far as Dynamo tells
    chain: tuple[Link, ...] = ()  # from the region's entry to this site, when not obvious; of a recompile for which a
    # caller is the cause, from that caller, where the finding stands, to the compiled function
    condition: str = ""  # "only when self.config.x", when configuration decides
    library: str = ""  # the installed package whose code breaks: a prediction then stands at the line that enters it, and the
    # last of `chain` is the place inside; what a run saw stands where Dynamo names it
    lost: str = ""  # "loop", "try", "with", "assert", ...: why the whole frame runs eager; "" when Dynamo resumes
    lost_function: str = ""  # whose frame that is, where it is not `function` but one that called it
    fix: Fix | None = None
    cost: Cost | None = None
    behind: tuple[Link, ...] = ()  # --peel: seen only after the breaks at these places were neutralised
    host_syncs: int = 0  # on a GPU: how often this line makes the CPU wait for it in a steady step
    count: int = 0  # events seen in a run; 0 when only predicted, or only seen behind others
    first_source_line: int = 0  # number of the first line of `source`
    source: tuple[str, ...] = ()  # the source frame: the lines around the site, without newlines

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
    """One recompile of a run: which frame, the guard that failed, and the user's line that it goes back to."""

    compile_id: str
    function: str
    path: str
    line: int
    family: str
    guard: str
    count: int = 1
    cause: str = ""  # what changed, in plain words
    seconds: float = 0.0  # of this compile
    site_path: str = ""  # "" when no line of the user's is known
    site_line: int = 0


class Restart(Fact):
    """A compile that Dynamo began again from the top of the frame: once for most breaks, and for a few other reasons."""

    compile_id: str
    function: str
    path: str
    line: int
    reasons: tuple[str, ...]
    seconds: float = 0.0  # what the attempts before the last one took


class LostFrame(Fact):
    """A frame that Dynamo gave up or skipped, so that it runs eager without a word."""

    function: str
    path: str
    line: int
    why: str  # "loop", "try", "with", "recompile limit", "skipped", ...
    reason: str = ""


class CudaGraph(Fact):
    """A CUDA graph that inductor left out, or recorded again, and why; at the user's line where torch names one."""

    kind: Literal["skipped", "recorded again"]
    reason: str
    path: str = ""
    line: int = 0
    function: str = ""
    count: int = 1


class HostSync(Fact):
    """A place where a step makes the CPU wait for the GPU, `count` times; without a path where no line of the user's
    led there, then `function` may say "backward pass"."""

    path: str = ""
    line: int = 0
    function: str = ""
    code: str = ""  # of that line
    count: int = 1


class ReportError(Fact):
    """Something that could not be done: `path` may be empty; `detail` may hold the user's traceback."""

    message: str
    path: str = ""
    line: int = 0
    detail: str = ""


class Process(Fact):
    """One process of a traced program that compiled something; `rank` is None outside of a process group."""

    pid: int
    rank: int | None
    compiles: int
    breaks: int  # sites
    recompiles: int
    compile_seconds: float


class RankEvent(Fact):
    """What one rank did: compiled, compiled again (`what` is the guard), broke (`what` is the GB id), or nothing more."""

    rank: int
    kind: Literal["compile", "recompile", "break", "nothing"]
    function: str = ""
    path: str = ""
    line: int = 0
    what: str = ""


class Divergence(Fact):
    """The first event that differs between ranks, after `position` equal ones."""

    position: int
    events: tuple[RankEvent, ...]


class Peeled(Fact):
    """What --peel did. `complete`: the last round showed nothing new, and every break found was neutralised."""

    rounds: int  # further runs
    complete: bool
    hidden: int = 0  # breaks that only these runs showed
    neutralised: int = 0  # places
    stubborn: tuple[Link, ...] = ()  # breaks that could not be neutralised: what is behind them is not known
    differs: str = ""  # how the outputs of a run with breaks neutralised differ from eager's
    problem: str = ""  # what ended the last round early


class Hazard(Fact):
    """What is compiled again under a variation: a guard, at the user's line."""

    path: str
    line: int
    function: str
    family: str
    message: str  # what changed, in plain words
    guard: str  # the guard's text
    help: str  # the cure
    values: tuple[str, ...] = ()
    recompiles: int = 1
    compile_seconds: float = 0.0


class Variation(Fact):
    """One thing that --radar varied: a call with `base`, then one with each of `steps`, from a fresh Dynamo on.

    `outcome`: "none" compiled again; "settles": what was compiled serves later calls; "each time": up to the last step;
    "limit": until Dynamo gave the function up; "left out": see `reason`.
    """

    name: str  # "batch", "sequence of 1", "train/eval", ...
    base: str
    outcome: Literal["none", "settles", "each time", "limit", "left out"]
    steps: tuple[str, ...] = ()
    recompiles: int = 0
    compile_seconds: float = 0.0
    hazards: tuple[Hazard, ...] = ()
    given_up: str = ""  # the function, where the limit was reached
    reason: str = ""  # why it, or some of its steps, were left out


class Radar(Fact):
    """What --radar varied. `batch` and `sequence` say which dimensions were taken for these, "" when none was."""

    batch: str
    sequence: str
    sequence_is: str = "sequence"  # of images "image size"
    variations: tuple[Variation, ...] = ()
    note: str = ""  # why there is nothing, or not all


class Run(Fact):
    """What a run was and saw, whatever its findings."""

    target: str  # FILE::NAME; of a traced program its command line, of a trace the file or folder
    status: Literal["ok", "failed", "timeout", "killed", "no-capture"]
    device: str
    backend: str
    torch_version: str
    python_version: str
    calls: int = 0
    backward: bool = False
    graphs: tuple[Graph, ...] = ()
    recompiles: tuple[Recompile, ...] = ()
    lost_frames: tuple[LostFrame, ...] = ()
    restarts: tuple[Restart, ...] = ()
    cuda_graphs: tuple[CudaGraph, ...] = ()
    host_syncs: tuple[HostSync, ...] | None = None  # of a steady step on a GPU; None when not listened for
    compile_seconds: float = 0.0
    share_compiled: float | None = None  # share of op time inside compiled graphs, 0 to 1
    breaks_cost: Cost | None = None  # of all breaks of the target together: a step with them, less the same as one graph
    capture_checked: bool = False  # the planted break was seen, or a trace holds compiles: silence means clean
    processes: tuple[Process, ...] = ()  # of a traced program
    divergence: Divergence | None = None  # where its ranks part
    peeled: Peeled | None = None  # what --peel did
    radar: Radar | None = None  # what --radar found
    exit_code: int | None = None  # of a traced program, as a shell would show it
    notes: tuple[str, ...] = ()


class Report(Fact):
    """All that one command found."""

    version: str  # of breakscope
    torch: str  # the torch version whose behaviour was assumed, or seen in the run
    findings: tuple[Finding, ...] = ()
    errors: tuple[ReportError, ...] = ()
    files: int = 0  # files checked
    regions: int = 0  # compiled regions analysed
    run: Run | None = None
    missed: int = 0  # sites that the run saw and static analysis did not predict
    refuted: int = 0  # predictions that the run showed to be wrong
    notes: tuple[str, ...] = ()  # where the analysis of source gave up
    hidden: int = 0  # findings left out: possible, refuted, suppressed or deselected
    schema: str = SCHEMA_VERSION

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


def to_json(report: Report, indent: int = 2) -> bytes:
    """The report as UTF-8 JSON with a newline at the end."""
    return msgspec.json.format(msgspec.json.encode(report), indent=indent) + b"\n"


def from_json(data: bytes) -> Report:
    """Read what `to_json` wrote; raises ValueError that names the wrong field."""
    return msgspec.json.decode(data, type=Report)  # msgspec.ValidationError is a ValueError


def json_schema() -> dict:
    """The JSON Schema of a report (draft 2020-12)."""
    return msgspec.json.schema(Report)
