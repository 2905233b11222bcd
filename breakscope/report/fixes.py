"""What `fix` did, or would do: the facts of a report on rewrites and their proof."""

from __future__ import annotations

from typing import Literal

from breakscope.report.fact import Cell, Fact

# "fewer": of what is printed, logged or warned of, a compiled program leaves some out
Agreement = Literal["equal", "within tolerance", "fewer", "different", "not compared"]


class FileDiff(Fact):
    """A rewritten file, and the unified diff of it."""

    path: str
    diff: str


class FixedPlace(Fact):
    """A finding that was fixed. `line` is that of the file as it was before its pass; `changes`
    is what the fix may change."""

    path: str
    line: int
    function: str
    code: str
    rule: str
    message: str
    safety: Literal["safe", "unsafe"]
    changes: str = ""
    cell: Cell | None = None


class NotFixedPlace(Fact):
    """A finding that was not fixed, and why; `taken_back` where a fix was tried and did not pass."""

    path: str
    line: int
    function: str
    code: str
    rule: str
    message: str
    reason: str
    taken_back: bool = False
    cell: Cell | None = None


class Measured(Fact):
    """What a program did before or after the fixes. Recompiles are those of a second call and of
    other shapes; seconds are those of a step, None where it was not measured."""

    breaks: int  # sites
    break_events: int
    recompiles: int
    skipped_frames: int
    graphs: int
    eager_seconds: float | None = None
    compiled_seconds: float | None = None


class Compared(Fact):
    """One thing that the original and the rewritten program were compared by."""

    what: str
    status: Agreement
    detail: str = ""


class Proof(Fact):
    """That the kept fixes pass: the original and the rewritten program were run in processes of
    their own with the same weights, inputs and random state. `source` says what was run: the target
    that was named, or a function alone with arguments that were guessed."""

    target: str
    source: Literal["target", "generated"]
    before: Measured
    after: Measured
    calls: int = 0
    values: int = 0  # further calls with other values, without torch.compile
    compared: tuple[Compared, ...] = ()
    notes: tuple[str, ...] = ()


class Fixes(Fact):
    """`written` is False where only a diff was asked for, or a preview."""

    written: bool
    files: tuple[FileDiff, ...] = ()
    fixed: tuple[FixedPlace, ...] = ()
    not_fixed: tuple[NotFixedPlace, ...] = ()
    proofs: tuple[Proof, ...] = ()
    notes: tuple[str, ...] = ()
