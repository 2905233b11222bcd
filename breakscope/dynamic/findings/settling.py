"""Whether a function that was compiled again is settled, or each further call compiles it anew."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from breakscope import limits
from breakscope.dynamic.observations.facts import FrameCompile, Observations, RecompileSeen
from breakscope.report.summary import duration

CALL = re.compile(r"capture \w+ (?P<number>\d+)$")
GROWS = "still growing"


def settled(group: Sequence[RecompileSeen], observations: Observations) -> str:
    """ "settled after call 2 of 5", "settled after 12 s of 300 s", "still growing"; "" where too
    little followed to say so."""
    # each part of a function that was resumed has versions of its own
    most = max(Counter(_code_of(seen.frame) for seen in group).values())
    grows = GROWS if most >= limits.FEWEST_TO_GROW else ""
    if calls := _calls(compile.phase for compile in observations.compiles):
        last = max(_calls(seen.frame.phase for seen in group), default=0)
        made = max(observations.calls, max(calls) + 1)
        return f"settled after call {last + 1} of {made}" if last + 1 < made else grows
    began = min((c.began for c in observations.compiles if c.began), default=0.0)
    last_seconds = max(seen.frame.began for seen in group) - began
    whole = observations.ended - began
    if not began or not observations.ended or last_seconds < 0:
        return ""
    if whole >= limits.QUIET_TIMES * max(last_seconds, limits.FEWEST_SECONDS_TO_SETTLE):
        return f"settled after {duration(last_seconds)} of {duration(whole)}"
    return grows


def call_of(compile: FrameCompile) -> int:
    """In which call of a run of ours it was, from 1 on; 0 in other programs."""
    return max(_calls((compile.phase,)), default=-1) + 1


def _code_of(compile: FrameCompile) -> str:
    """The code object that was compiled: the compile's id without the number of the version."""
    code, _, rest = compile.compile_id.partition("/")
    return f"{code}#{rest.partition('#')[2]}"


def _calls(phases: Iterable[str]) -> list[int]:
    return [int(found["number"]) for phase in phases if (found := CALL.match(phase))]
