"""The event of code behind a break, which rules about it listen to."""

from __future__ import annotations

from breakscope.rulekit.events import Event


class Resumed(Event, frozen=True, kw_only=True):
    """What a break gives is used by the code behind it, which Dynamo compiles as a function of its own (a resume
    function), and is surely another in other calls of the program. `node` is what breaks.

    `what`: "number" for one that was read from a tensor, or drawn, "choice" for what Python chooses among others,
    "size" for a tensor as long as its values make it.
    """

    what: str
