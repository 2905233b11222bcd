"""Functions that Dynamo compiles by themselves, because of a break in them or before them."""

from __future__ import annotations

from collections.abc import Iterable

from breakscope.static.findings.seen import Seen
from breakscope.static.findings.verdicts import Way
from breakscope.static.machine.frames import Activation
from breakscope.static.machine.given import both
from breakscope.static.regions.region import Region

Place = tuple[str, int]  # path and line of a function


class Apart:
    """The functions of a file that are compiled by themselves."""

    def __init__(self) -> None:
        self._places: set[Place] = set()
        self._behind: set[tuple[Place, Place]] = set()  # what leads to each of them, and it
        # those of which a condition decides whether it is so, each with it
        self._under: dict[Place, str] = {}

    def clear(self) -> None:
        self._places.clear()
        self._behind.clear()
        self._under.clear()

    def note(self, child: Activation, seen: Seen) -> None:
        """What an activation calls is compiled by itself."""
        place = _place(child)
        self._places.add(place)
        for outer in (seen.activation, *(part for part, _ in seen.way.chain)):
            self._behind.add((_place(outer), place))

    def note_under(self, child: Activation, condition: str) -> None:
        """So it is where the condition holds."""
        if child.is_compiled_by_itself and condition:
            self._under.setdefault(_place(child), condition)

    def note_left(self, seen: Seen) -> None:
        """All that an activation calls is where the condition holds under which it is skipped."""
        for step in seen.activation.steps:
            if step.child is not None:
                self.note_under(step.child, both(seen.way.condition, seen.skipped_under))

    def has_any(self, activations: Iterable[Activation]) -> bool:
        return not self._places.isdisjoint(map(_place, activations))

    def way_to(self, region: Region) -> Way | None:
        """How a region is entered; None for a function that Dynamo does not compile by itself."""
        place = region.apart
        if region.outers:
            return Way() if all((o, place) in self._behind for o in region.outers) else None
        if place is None or place in self._places:
            return Way()
        under = self._under.get(place)
        return None if under is None else Way(condition=under)


def _place(activation: Activation) -> Place:
    return activation.module.path, activation.line
