"""What one region showed."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from breakscope.rulekit.events import Event
from breakscope.rulekit.values import UNKNOWN, Value
from breakscope.static.machine.frames import Activation


class Region(Struct, frozen=True):
    """One compiled region: what is called, and the activation that holds what was seen."""

    name: str
    activation: Activation
    value: Value = UNKNOWN  # what the call returns
    raises: bool = False

    def events(self, kind: type[Event]) -> Iterator[Event]:
        """What was seen of a kind of event, in the region and in what it calls."""
        open_, met = [self.activation], {id(self.activation)}
        while open_:
            for step in open_.pop().steps:
                if type(step.event) is kind:
                    yield step.event
                if step.child is not None and id(step.child) not in met:
                    met.add(id(step.child))
                    open_.append(step.child)
