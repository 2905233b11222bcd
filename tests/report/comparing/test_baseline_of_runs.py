"""What a baseline keeps of a run does not hang on the clock."""

import msgspec
import pytest
from facts import RUN, report

from breakscope.report.comparing.baseline import KnownBefore, Scope, compared, renewed
from breakscope.report.model import SkippedFrame

FILE = "baseline.json"
LOST = SkippedFrame(function="f", path="m.py", line=1, why="loop")


@pytest.mark.parametrize(
    ("change", "kept"),
    [
        ({}, True),
        ({"share_compiled": 0.1}, True),
        ({"share_compiled": None}, True),
        ({"lost_frames": ()}, True),
        ({"lost_frames": (LOST,)}, False),  # instead of the other: as many, of all that is compiled
    ],
)
def test_the_share_of_functions_is_what_counts(change, kept):
    known = renewed(report(run=RUN), KnownBefore(), FILE, Scope())
    assert known.runs[0].coverage == 50
    now = report(run=msgspec.structs.replace(RUN, **change))
    budgets = {b.name: b for b in compared(now, known, FILE, Scope()).baseline.budgets}
    assert budgets["baseline-coverage"].kept is kept
    assert budgets["baseline-skipped-frames"].kept
