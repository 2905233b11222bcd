"""A list, set or deque that grows in the region recompiles in every call.

Dynamo guards the length of a list that the region touches. `self.history.append(y)` makes it
longer, as `self.history = (*self.history, y)` does a tuple, so the next call fails the guard and
compiles again, until the recompile limit (8) is reached and the code is skipped for good. The tensors in the list are also kept alive. It is the
same for a global list, a list in a closure and a default argument, and for `next` of an iterator that is kept: a count, or one
over a range or a tuple.

A list that the region takes items from only when it is longer than some number grows to that, and is compiled for
each length on the way. One that it takes items from in every call, that it appends to only below a length, only what is
not in it yet, or behind a flag that it sets there, settles after the first calls: it is reported, with its first
lengths, where the program's own calls show these, and not otherwise; nor is one that gets another new item in each call.

Return the value and append outside the region, where it is ordinary Python; or keep a tensor of
fixed size in a buffer and write into a slot of it. A list that is made anew in every call costs
nothing.
"""

import torch

from breakscope.rulekit.events import Mutate, Store, Varies
from breakscope.rulekit.rule import Rule
from breakscope.rulekit.values import Sequence
from breakscope.texts import shown_home

rule = Rule(
    "BRK703",
    "growing-container",
    kind="recompile",
    severity="warning",
    dynamo=("container_length", "attribute"),
)

GROWING = ("append", "appendleft", "extend", "extendleft", "insert", "add", "__iadd__")


@rule.on(Mutate, method=GROWING, within="")
def check(event):
    if event.bounded:
        return
    again = "in every call, and its length is guarded, so the region is compiled again each time"
    if event.most is not None:
        items = "1 item" if event.most == 1 else f"{event.most} items"
        again = f"to {items}, and its length is guarded, so the region is compiled for each length"
    yield event.problem(
        f"{shown_home(event.home)} grows {again}",
        help=f"return the value and `{event.method}` outside the region, or keep a fixed-size tensor in a buffer",
    )


@rule.on(Mutate, method=("next",))
def check_iterator(event):
    yield event.problem(
        f"{shown_home(event.home)} has another next item in each call, and where it stands is guarded, so the region is compiled again each time",
        help="take the next item outside the region, and hand it in as a tensor",
    )


@rule.on(Store, scope="attribute", reads_itself=True, is_read=True)
def check_store(event):
    sizes = [
        len(value.items) if type(value) is Sequence and value.items is not None else None
        for value in (event.initial, event.value)
    ]
    if None not in sizes and sizes[1] > sizes[0]:
        place = f"{event.owner}.{event.name}" if event.name else event.owner
        yield event.problem(
            f"`{place}` gets longer in every call, and its length is guarded, so the region is compiled again each time",
            help="return the value and keep it outside the region, or keep a fixed-size tensor in a buffer",
        )


@rule.on(Varies, what="kept length")
def check_first_calls(event):
    yield event.problem(
        f"`{event.name}` has other lengths in the first calls{event.seen}, and its length is guarded, so each is a graph of its own",
        help="fill it before the first call, with a tensor of its own for each item, or keep a fixed-size tensor in a buffer",
    )


CALLS = [lambda: (torch.ones(2, 4),)] * 4


@rule.example(*CALLS, module=True, dynamo=("container_length",))
def bad():
    class Recorder(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.history = []

        def forward(self, x):
            y = x * 2
            self.history.append(y)  # BRK703
            return y

    return Recorder()


@rule.becomes
def good():
    class Recorder(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("last", torch.zeros(2, 4))

        def forward(self, x):
            y = x * 2
            self.last.copy_(y)
            return y

    return Recorder()


@rule.example(*CALLS, module=True, dynamo=("container_length",))
def bad():
    class Meters(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.meters = {"loss": []}

        def forward(self, x):
            y = x * 2
            self.meters["loss"].append(y)  # BRK703
            return y

    return Meters()


@rule.becomes
def good():
    class Meters(torch.nn.Module):
        def forward(self, x):
            return x * 2

    return Meters()


@rule.example(*CALLS, module=True, dynamo=("attribute", "container_length"))
def bad():
    class Recorder(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.past = ()

        def forward(self, x):
            self.past = (*self.past, x)[-3:]  # BRK703
            return sum(self.past)

    return Recorder()


@rule.becomes
def good():
    class Recorder(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("past", torch.zeros(3, 2, 4))

        def forward(self, x):
            self.past.copy_(torch.cat([self.past[1:], x[None]]))
            return self.past.sum(0)

    return Recorder()
