"""What torch.compile returned: it has the state of what it was given, and its calls are compiled."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from msgspec.structs import replace

from breakscope.rulekit.values import Function, Method, Value
from breakscope.static.machine.driver import Driver


def of_compiled(value: Value, owner: Value, name: str) -> Value:
    """An attribute of what torch.compile returned: what a module is called by is compiled, too."""
    if name == "_orig_mod":
        return owner.original
    if type(value) is Method and value.receiver is owner.original:
        # what gives back its module, as `eval()`, gives the compiled one
        return Method(owner, value.name)
    is_entered = name in ("forward", "__call__") and type(value) is Function
    return replace(value, compiled_of=value.original) if is_entered else value


@contextmanager
def call_of_compiled(driver: Driver, callee: Value, args, kwargs, node, frame) -> Iterator[None]:
    """A call of a module of torch's, or of what torch.func made; one that the file's own code compiled is noted."""
    is_outside = not (frame.emits or driver.calls is None or driver.inside)
    if callee.compiled_of is None or not is_outside:
        yield
        return
    if not frame.may_not_happen():
        driver.note_module(callee.original, args, kwargs, node)
    driver.inside = True
    try:
        yield
    finally:
        driver.inside = False
