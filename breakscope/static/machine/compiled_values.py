"""What torch.compile returned: it has the state of what it was given, and its calls are compiled."""

from __future__ import annotations

from msgspec.structs import replace

from breakscope.rulekit.values import Function, Value


def of_compiled(value: Value, owner: Value, name: str) -> Value:
    """An attribute of what torch.compile returned: what a module is called by is compiled, too."""
    if name == "_orig_mod":
        return owner.original
    is_entered = name in ("forward", "__call__") and type(value) is Function
    return replace(value, compiled_of=value.original) if is_entered else value
