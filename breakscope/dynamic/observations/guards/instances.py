"""Recompiles because another module runs the same code: its parameters have other sizes, which no
module changes, so that what differs in the call besides is no cause of its own."""

from __future__ import annotations

import re
from collections.abc import Sequence

from breakscope.dynamic.observations.facts import RecompileSeen
from breakscope.dynamic.observations.guards.families import Guard

# of the module that runs: `self` of a method, `fn` of torch's wrapper around a module of its own
PARAMETER = re.compile(
    r"tensor '(?:self|fn)\b.*_parameters.*' (?:size|rank) mismatch|^___check_type_id\(fn\b"
)


def of_another_module(group: Sequence[RecompileSeen]) -> Guard | None:
    """The guard that shows it; None where what differs is a call's own."""
    found = [guard for seen in group if (guard := _of_module(seen))]
    return found[0] if found and len(found) == len(group) else None


def _of_module(seen: RecompileSeen) -> Guard | None:
    return next((g for g in (seen.guard, *seen.others) if PARAMETER.search(g.text)), None)
