"""Guards on a tensor's dimensions in plain words: which of them changed, which left the range that
was compiled for."""

from __future__ import annotations

import re
from collections.abc import Sequence

from breakscope.dynamic.observations.guards.families import Guard

DIMENSION = re.compile(r"mismatch at index (\d+)")
RANGE = re.compile(
    r"(?:(?P<low>\d+) <=? )?[\w.\[\]']+?\.(?P<what>size|stride|storage_offset)\(\)(?:\[(?P<dimension>\d+)\])?"
    r"(?: <=? (?P<high>\d+))?$"
)
WORDS = {
    "size": "dimension {} of ",
    "stride": "the stride of dimension {} of ",
    "storage_offset": "the storage offset of ",
}


def of_guards(guards: Sequence[Guard]) -> list[int]:
    """The dimensions whose size or stride did not match, smallest first; empty when a guard is
    about something else."""
    found = [DIMENSION.search(guard.text) for guard in guards]
    return sorted({int(match[1]) for match in found if match}) if all(found) else []


def left_range(text: str) -> tuple[str, str] | None:
    """What a guard such as `2 <= x.size()[0] <= 8` is about, and how it failed: ("dimension 0 of ",
    "is outside of 2 to 8 now")."""
    found = RANGE.match(text)
    if not found or not (found["low"] or found["high"]):
        return None
    low, high = found["low"], found["high"]
    beyond = (
        f"outside of {low} to {high}"
        if low and high
        else f"less than {low}"
        if low
        else f"more than {high}"
    )
    return WORDS[found["what"]].format(found["dimension"]), f"is {beyond} now"
