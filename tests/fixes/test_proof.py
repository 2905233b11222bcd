"""What a proof lets pass: fewer breaks with the same results, and recompiles that settle."""

import pytest

from breakscope.dynamic import Recorded
from breakscope.fixes.proof import verdict
from breakscope.report.fixes import Compared, Measured

AGAIN = "calls with the same arguments compile again"
NO_LESS = "the run shows as many breaks and recompiles as before"


def recorded(breaks=0, again=0, settled=True, compared=(), problem=""):
    measured = Measured(
        breaks=breaks, break_events=breaks, recompiles=again, skipped_frames=0, graphs=1
    )
    return Recorded(
        measured=measured, again=again, settled=settled, compared=compared, problem=problem
    )


@pytest.mark.parametrize(
    ("before", "after", "wanted"),
    [
        (recorded(1), recorded(0), ""),
        (recorded(1), recorded(1), NO_LESS),
        (recorded(1), recorded(0, again=1), ""),
        (recorded(1), recorded(0, again=1, settled=False), AGAIN),
        (recorded(1), recorded(1, again=1), AGAIN),
        (recorded(0, again=2, settled=False), recorded(0, again=1, settled=False), ""),
        (
            recorded(1),
            recorded(0, compared=(Compared(what="outputs", status="different", detail="one"),)),
            "outputs: one",
        ),
        (recorded(1), recorded(problem="it ended"), "the rewritten code does not run: it ended"),
    ],
)
def test_what_passes(before, after, wanted):
    assert verdict(before, after) == wanted
