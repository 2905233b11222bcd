"""Hand-made findings and reports for the tests of this folder."""

from __future__ import annotations

import msgspec

from breakscope.report.model import (
    Cost,
    Finding,
    Fix,
    Graph,
    Link,
    Report,
    ReportError,
    Run,
    SkippedFrame,
)

BASE = Finding(
    path="models/moe.py",
    line=41,
    column=15,
    end_line=41,
    end_column=32,
    code="BRK203",
    rule="scalar-cast",
    kind="break",
    severity="error",
    confidence="certain",
    evidence="predicted",
    function="route",
    message="`int(counts.max())` reads a tensor's value, so the graph ends here",
    help="write `cap = counts.max()` and mask by it, or fix the capacity in __init__",
    first_source_line=40,
    source=(
        "        counts = torch.bincount(expert_ids, minlength=self.n)",
        "        cap = int(counts.max())",
    ),
)


def finding(**changes) -> Finding:
    """BASE with changes; `end_line` follows `line` unless it is given."""
    if "line" in changes:
        changes.setdefault("end_line", changes["line"])
    return msgspec.structs.replace(BASE, **changes)


CONFIRMED = finding(
    evidence="confirmed",
    dynamo=("GB0124",),
    count=3,
    cost=Cost(step_seconds=0.0018),
    chain=(
        Link(path="models/moe.py", line=28, function="MoE.forward"),
        Link(path="models/moe.py", line=41, function="route"),
    ),
    fix=Fix(
        safety="unsafe",
        description="keep it a tensor",
        line=41,
        end_line=41,
        replacement="        cap = counts.max()\n",
    ),
)
RECOMPILE = finding(
    line=12,
    code="BRK701",
    rule="int-attribute",
    kind="recompile",
    severity="warning",
    evidence="observed",
    message="`self.step` is an int that changes on every call, so every call compiles again",
    help="keep it in a buffer",
    guard="L['self'].step == 3",
    dynamo=("attribute",),
    count=2,
    cost=Cost(compile_seconds=12.3),
    first_source_line=0,
    source=(),
)
ODD_PATH = finding(
    path="my models/ä:b,c%.py", lost="loop", condition="self.config.cache", confidence="likely"
)
BROKEN_FILE = ReportError(path="models/bad file.py", line=3, message="invalid syntax: expected ':'")
FAILED_RUN = ReportError(
    message="the target raised ValueError: x",
    detail="Traceback (most recent call last):\nValueError: x",
)
RUN = Run(
    target="model.py::make",
    status="ok",
    device="cpu",
    backend="eager",
    torch_version="2.13.0",
    python_version="3.11.7",
    calls=4,
    graphs=tuple(
        Graph(compile_id=f"{i}/0", function="f", path="m.py", line=1, ops=3) for i in range(4)
    ),
    lost_frames=(SkippedFrame(function="forward", path="m.py", line=9, why="recompile limit"),),
    share_compiled=0.62,
    capture_checked=True,
)


def report(*findings: Finding, **changes) -> Report:
    return msgspec.structs.replace(
        Report(version="0.1.0", torch="2.13.0", findings=findings, files=3, regions=1), **changes
    )


FULL = report(
    CONFIRMED,
    RECOMPILE,
    ODD_PATH,
    errors=(BROKEN_FILE, FAILED_RUN),
    run=RUN,
    missed=1,
    refuted=2,
    hidden=4,
)
