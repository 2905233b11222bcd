"""What `copy.copy` and `copy.deepcopy` make of containers: others, which nobody outside of the call
has."""

from __future__ import annotations

from breakscope import limits
from breakscope.rulekit.values import Value


def copied(value: Value, deep: bool, depth: int = 0) -> Value:
    """The copy of a list or dict, `deep` with copies of what is in it; any other value as it is."""
    if depth > limits.DEEPEST_COPY:
        return value
    return value.rebuilt(lambda part: copied(part, deep, depth + 1) if deep else part)
