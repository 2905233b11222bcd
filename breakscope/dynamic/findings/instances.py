"""Recompiles because another module runs the same code: its parameters have other sizes, which no
module changes, so that what differs in the call besides is no cause of its own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from breakscope.dynamic.observations.facts import RecompileSeen
from breakscope.dynamic.observations.guards.families import Guard
from breakscope.dynamic.observations.guards.names import readable
from breakscope.dynamic.observations.ownership import OF_DYNAMO

# of the module that runs: `self` of a method, `fn` of torch's wrapper around a module of its own
PARAMETER = re.compile(
    r"tensor '(?:self|fn)\b.*_parameters.*' (?:size|rank) mismatch|^___check_type_id\(fn\b"
)


@dataclass(frozen=True)
class Other:
    """What is said of a recompile for another module."""

    cause: str
    help: str


def another_module(group: Sequence[RecompileSeen]) -> Other | None:
    """None where what differs is the call's own."""
    found = [guard for seen in group if (guard := _of_module(seen))]
    if len(found) < len(group):
        return None
    if OF_DYNAMO.search(group[0].frame.path):
        return Other(
            "another module than before is called: modules of torch's own classes share one wrapper",
            "one version for each is usual; where they come to the recompile limit, write each as an `nn.Module` class "
            "of its own, whose `forward` calls it",
        )
    return Other(
        f"another instance than before is called: its `{readable(found[0].name)}` has another size",
        "each instance of another size is a version: compile the model that holds them as a whole, and each is "
        "traced in its place",
    )


def _of_module(seen: RecompileSeen) -> Guard | None:
    return next((g for g in (seen.guard, *seen.others) if PARAMETER.search(g.text)), None)
