"""What Dynamo reported, as facts, before any rule is matched."""

from __future__ import annotations

from dataclasses import dataclass, field

from breakscope.dynamic.observations.guards.families import Guard
from breakscope.dynamic.observations.reasons import Reason
from breakscope.dynamic.trace.frames import Frame
from breakscope.report.model import CudaGraph, Graph, SkippedFrame


@dataclass(frozen=True)
class FrameCompile:
    """One compile of one frame. `failed` when the frame is skipped from then on; `seconds` is the
    whole compile."""

    compile_id: str
    function: str
    path: str
    line: int
    seconds: float = 0.0
    graph_ops: int | None = None
    guards: int = 0
    failed: bool = False
    raised: str = (
        ""  # the type of what the compile raised into the program; "" where Dynamo went on
    )
    fail_reason: str = ""
    fail_path: str = ""
    fail_line: int = 0
    resumed_at: int = 0  # for a resume function: the line that broke
    stack: tuple[Frame, ...] = ()
    phase: str = ""
    restarts: tuple[str, ...] = ()  # why it was begun again, in Dynamo's words; each reason once
    began: float = 0.0  # when, in seconds of the system's clock; 0 where that is not known
    restart_seconds: float = 0.0  # of `seconds`, what the attempts before the last one took


@dataclass(frozen=True)
class Break:
    """One break site: innermost user line, why, and how often it was reported (once per enclosing
    frame)."""

    site: Frame
    reason: Reason
    chain: tuple[Frame, ...]
    compile_ids: tuple[str, ...]
    skipped: str = ""  # why the frame is skipped, as `Finding.lost`; "" when Dynamo resumes
    backward: bool = False  # seen only while a backward pass ran
    count: int = 1
    # as `FrameCompile.raised`, with what it says: then this is no break but an error
    raised: str = ""
    # the compiles that kept what came before it, and left the rest of their function
    not_resumed: tuple[str, ...] = ()
    inside_torch: str = ""  # torch's file where the graph ended, below the user's line
    entered: bool = (
        False  # the user's line is outside of compiled code, and what it calls is compiled
    )


@dataclass(frozen=True)
class RecompileSeen:
    """One recompile: the frame that was compiled again and the guard that failed."""

    frame: FrameCompile
    guard: Guard
    # the user's line: the frame's first line, or its caller's when the frame is torch's
    site: Frame | None
    # of all versions of the code that there were, the newest first, as Dynamo words them
    reasons: tuple[str, ...] = ()
    # what else kept the nearest version from serving the call: it would compile again without
    # `guard` too
    others: tuple[Guard, ...] = ()
    fixed: bool = False  # the new version serves one value only of what `guard` is on, again
    refused: bool = False  # nothing was compiled: the frame was at its recompile limit


@dataclass(frozen=True)
class Observations:
    """All that one run showed."""

    breaks: tuple[Break, ...] = ()
    errors: tuple[Break, ...] = ()  # those that raised into the program
    recompiles: tuple[RecompileSeen, ...] = ()
    refused: tuple[RecompileSeen, ...] = ()  # as `RecompileSeen.refused`
    graphs: tuple[Graph, ...] = ()
    skipped_frames: tuple[SkippedFrame, ...] = ()
    cuda_graphs: tuple[CudaGraph, ...] = ()
    compile_seconds: float = 0.0
    # by the line that broke
    resume_seconds: dict[tuple[str, int], float] = field(default_factory=dict)
    traced: dict[str, frozenset[int]] = field(default_factory=dict)
    records: int = 0
    compiles: tuple[FrameCompile, ...] = ()  # in order
    calls: int = 0  # that a run of ours made; 0 of other programs
    ended: float = 0.0  # when the program ended, as `FrameCompile.began`; 0 where not known
    switches: frozenset[str] = frozenset()  # of Dynamo's configuration that were on
    self_tests: int = 0  # how many breaks of self-tests the reader saw
