"""An iterator that was made before the region ends the graph where the region goes over it.

Dynamo follows an iterator that it has seen made: of one that comes in from outside (an argument, an attribute, a
global variable) it knows only that Python's own code gives the next item. So `next(self.batches)` ends the graph
(GB4347), and so does handing it to `list`, `zip`, `set` or `sum`; a `for`, a comprehension or `enumerate` over it leaves the
whole function to Python (GB0811). It is the same for what a dict's `values()` and `items()` gave before, and
for generators, as of `model.parameters()`. The `keys()` of a dict, and iterators over tuples and ranges, are
followed. Behind an earlier graph break, `zip`, `map`, `filter`, `values()` and `items()` that stand before it are
Python's own, too.

Keep, or hand over, the list, the dict or the module itself, and call `.values()`, `zip(...)` or `iter(...)` in the region; of
what comes one by one, take the next item outside, and hand it in.
"""

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule(
    "BRK579",
    "kept-iterator",
    shares=("GB4347", "GB0811", "GB6012"),
    unshown=("GB6012",),
)

# behind a break in one of these nothing is compiled: no instruction of theirs begins a resume function
STATEMENTS = frozenset({"for", "comprehension", "unpack", "star", "in", "enumerate", "itertools"})


@rule.on(Call, "iterator made before the region")
def check(event):
    construct, home = (fact.value for fact in event.args)
    where, _, name = home.rpartition(" ")
    keep = "hand over" if where == "argument" else "keep"
    yield event.problem(
        f"`{name}` is an iterator or a view that was made before, which Dynamo does not go over, so the graph ends here",
        help="take the next item outside of the region, and hand it in"
        if construct == "next"
        else f"{keep} the list, the dict or the module itself, and make the iterator in the region",
        skips="call" if construct in STATEMENTS else "",
        fixable=False,
    )


@rule.on(Call, "iterator made before a break")
def check_held(event):
    construct = event.args[0].value
    yield event.problem(
        f"the iterator or view in `{event.shown}` was made before an earlier graph break, behind which Dynamo does not go "
        "over it, so the graph ends here",
        help="keep a list of it, `list(...)`, where it is made, or make it here",
        skips="call" if construct in STATEMENTS else "",
        fixable=False,
    )


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0811",), module=True)
def bad():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.parts = torch.nn.ModuleDict({"a": torch.nn.ReLU(), "b": torch.nn.Tanh()})
            self.layers = self.parts.values()

        def forward(self, x):
            for layer in self.layers:  # BRK579
                x = layer(x)
            return x

    return Net()


@rule.becomes
def good():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.parts = torch.nn.ModuleDict({"a": torch.nn.ReLU(), "b": torch.nn.Tanh()})

        def forward(self, x):
            for layer in self.parts.values():
                x = layer(x)
            return x

    return Net()


@rule.example(lambda: (torch.ones(4),), dynamo=("GB4347",), module=True, fixed=False)
def bad_next():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.rates = iter([0.5] * 99)

        def forward(self, x):
            y = x * 2
            return y * next(self.rates)  # BRK579

    return Net()


@rule.becomes
def good_next():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.rates = [0.5] * 99

        def forward(self, x):
            y = x * 2
            return y * self.rates[0]

    return Net()


@rule.example(lambda: (torch.ones(4),), dynamo=("GB4347", "GB0811"), module=True, fixed=False)
def bad_behind():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.rates = iter([0.5] * 99)

        def forward(self, x):
            pairs = zip([x, x * 2], [0.5, 0.25])
            y = x * next(self.rates)  # BRK579
            for part, rate in pairs:  # BRK579
                y = y + part * rate
            return y

    return Net()


@rule.becomes
def good_behind():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.rates = [0.5] * 99

        def forward(self, x):
            pairs = list(zip([x, x * 2], [0.5, 0.25]))
            y = x * self.rates[0]
            for part, rate in pairs:
                y = y + part * rate
            return y

    return Net()
