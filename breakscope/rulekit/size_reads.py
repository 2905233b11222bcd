"""The event of a size that must be a number for Python, which rules about it listen to."""

from __future__ import annotations

from breakscope.rulekit.events import Event


class SizeRead(Event, frozen=True, kw_only=True):
    """Something needs the number, or the bool, that a size of a tensor is, or that was computed from one. Dynamo has
    it as a constant until the size is another in a later call, and from then on as a symbol, which these do not take.

    `how`: "flag" (an argument of a torch function that is either on or off), "text" (`str`, `repr`), "percent",
    "math" (math.gcd and others that Dynamo does not do with symbols), "divmod", "sorted". `expression` is the source of
    the size, `taker` the name of what takes it. `varies` is True where the program's calls bring
    tensors of several sizes, False where they do not, None where they are not known.
    """

    how: str
    expression: str
    taker: str = ""
    varies: bool | None = None
