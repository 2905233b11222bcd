"""An attribute that is None in the first call and a tensor afterwards recompiles.

`if self.cache is None` is decided while Dynamo traces, with a guard on the answer. The first call
stores a tensor, so the second call fails the guard and compiles the other path. Where the tensor
then grows (`torch.cat` on a cache of keys and values), its sizes cause one more recompile.

It is the same for a number, a text, a device or a dtype that is looked at before it is set, and for a
size: `if self.shape != x.shape: self.shape = x.shape` compares with None in the first call and with sizes
afterwards. A placeholder that the first call replaces is guarded too: by its
dimensions where it is a tensor (`self.grid = torch.zeros(1)`), by its value where it is a number
(`if self.channels != x.size(1): self.channels = x.size(1)`). `if not hasattr(self, "grid"): self.grid = ...` is guarded as well.

Make the buffer in `__init__`, with its largest size, and write into it with `index_copy_` or a
slice; or pass the state in and return it, and let the caller make the first one. A tensor computed
once is best computed in `__init__`.
"""

import torch

from breakscope.rulekit.events import Store
from breakscope.rulekit.rule import Rule
from breakscope.rulekit.values import (
    MISSING,
    Dict,
    External,
    Py,
    Sequence,
    ShapeInt,
    Tensor,
    holds_tensor,
    maybe_tensor,
    options,
)

rule = Rule(
    "BRK707",
    "none-then-tensor",
    kind="recompile",
    severity="warning",
    dynamo=("none_argument", "attribute", "size"),
)

KEPT = (Sequence, Dict, ShapeInt)


@rule.on(Store, scope=("attribute", "global", "nonlocal"), is_read=True)
def check(event):
    if event.initial == MISSING:
        yield event.problem(
            f"`{event.owner}.{event.name}` is not there when the first call asks for it, which is guarded, and set in it, so"
            " the region is compiled again",
            help=f"set `{event.name}` in `__init__`, or compute it outside the compiled region",
            once=event.name,
        )
        return
    if not options(event.initial)[0].is_none:
        first = getattr(event.initial, "value", None)
        if isinstance(event.value, ShapeInt) and type(first) is int and not event.reads_itself:
            yield event.problem(
                f"`{event.owner}.{event.name}` is {first} in the first call and a size afterwards,"
                " so the region is compiled again",
                help=f"set `{event.name}` in `__init__`, or compute it outside the compiled region",
                once=event.name,
            )
        elif _has_other_dimensions(event):
            yield event.problem(
                f"`{event.owner}.{event.name}` has {event.initial.ndim} dimensions in the first call and"
                f" {event.value.ndim} afterwards, so the region is compiled again",
                help=f"make `{event.name}` in `__init__` as it is later, or pass it in and return it",
                once=event.name,
            )
        return
    name = f"{event.owner}.{event.name}" if event.owner else event.name
    if maybe_tensor(event.value):
        yield event.problem(
            f"`{name}` is None in the first call and a tensor afterwards, so the region is compiled again",
            help=f"make `{event.name}` in `__init__` as a buffer, or pass it in and return it",
            once=name,
        )
    elif isinstance(event.value, KEPT) or (event.is_read_first and _is_plain(event.value)):
        instead = "tensors as buffers of their largest size, or pass it in and return it"
        yield event.problem(
            f"`{name}` is None in the first call and {event.value.describe()} afterwards, so the region is compiled again",
            help=f"set `{event.name}` in `__init__`, "
            + (
                instead
                if holds_tensor(event.value)
                else "or compute it outside the compiled region"
            ),
            once=name,
        )


def _is_plain(value):
    """A number, a text, a dtype, a device: mostly set anew in each call before it is read, which changes
    nothing from call to call."""
    return isinstance(value, Py | External) or (value.is_const and not value.is_none)


def _has_other_dimensions(event):
    """A placeholder, as `torch.zeros(1)`, that the first call replaces."""
    first, new = event.initial, event.value
    if type(first) is not Tensor or type(new) is not Tensor or event.scope != "attribute":
        return False
    return first.ndim is not None and new.ndim is not None and first.ndim != new.ndim


CALLS = [lambda: (torch.ones(2, 4),)] * 3


@rule.example(*CALLS, module=True, dynamo=("none_argument",))
def bad():
    class Smooth(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.last = None

        def forward(self, x):
            if self.last is not None:
                x = x + self.last
            self.last = x.detach()  # BRK707
            return x * 2

    return Smooth()


@rule.becomes
def good():
    class Smooth(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("last", torch.zeros(2, 4))

        def forward(self, x):
            x = x + self.last
            self.last = x.detach()
            return x * 2

    return Smooth()


@rule.example(*CALLS, module=True, dynamo=("attribute",))
def bad():
    class Positions(torch.nn.Module):
        shape = None

        def forward(self, x):
            if self.shape != x.shape:
                self.shape = x.shape  # BRK707
            return x * self.shape[0]

    return Positions()


@rule.becomes
def good():
    class Positions(torch.nn.Module):
        def forward(self, x):
            return x * x.shape[0]

    return Positions()


@rule.example(*CALLS, module=True, dynamo=("size",))
def bad_placeholder():
    class Offsets(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.grid = torch.zeros(1)

        def forward(self, x):
            if self.grid.shape != x.shape:
                self.grid = torch.arange(8.0).view(2, 4)  # BRK707
            return x + self.grid

    return Offsets()


@rule.example(*CALLS, module=True, dynamo=("attribute",))
def bad_number():
    class Spread(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.channels = 1

        def forward(self, x):
            if self.channels != x.size(1):
                self.channels = x.size(1)  # BRK707
            return x * self.channels

    return Spread()


@rule.example(*CALLS, module=True, dynamo=("attribute",))
def bad_asked_for():
    class Smooth(torch.nn.Module):
        def forward(self, x):
            last = getattr(self, "last", None)
            y = x if last is None else (x + last) / 2
            self.last = y.detach()  # BRK707
            return y

    return Smooth()
