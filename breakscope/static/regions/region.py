"""What one region showed."""

from __future__ import annotations

from collections.abc import Callable, Iterator

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
    # the same call with what the first one left on its objects, where that matters
    again: Activation | None = None
    # path and line of a function: what differs between calls that regions make of it, which
    # matters where Dynamo compiles the function by itself
    apart: tuple[str, int] | None = None
    # path and line of the functions whose calls differ in it: it matters where Dynamo compiles it by itself in all of them
    outers: tuple[tuple[str, int], ...] = ()

    def meets(self, is_wanted: Callable[[Event], bool]) -> bool:
        """True where something that the region or what it calls does is wanted."""
        return any(
            step.event is not None and is_wanted(step.event)
            for activation in self.activations()
            for step in activation.steps
        )

    def surely_does(self, is_wanted: Callable[[Event], bool]) -> bool:
        """The same of what each call of the region comes to."""
        open_, met = [self.activation], set()
        while open_:
            activation = open_.pop()
            if id(activation) in met:
                continue
            met.add(id(activation))
            for step in activation.steps:
                if step.undecided or step.condition or step.rare:
                    continue
                if step.child is not None:
                    open_.append(step.child)
                elif not (step.event.undecided or step.event.condition) and is_wanted(step.event):
                    return True
        return False

    def activations(self) -> Iterator[Activation]:
        """The region's own and what it calls, each once."""
        open_, met = [self.activation], set()
        while open_:
            activation = open_.pop()
            if id(activation) not in met:
                met.add(id(activation))
                yield activation
                open_ += [step.child for step in activation.steps if step.child is not None]
