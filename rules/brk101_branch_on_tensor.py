"""An `if` on a tensor's value ends the graph.

Python must know which way to go, so Dynamo stops the graph, runs what it has, reads one bool from
the device and starts a new graph behind the branch. On a GPU the host waits for the device there,
in every step. Inside a loop, a `try` or a generator Dynamo skips the whole function instead.
Every torch version from 2.6 to 2.15 does this. So does an `if` on `tensor._version`, which counts changes in place: the
graph itself makes them. And so does one on a number of NumPy's that was kept in an attribute or a global,
`self.scale = np.sqrt(width)`: compared with, it is an array while Dynamo traces.

Write the choice as tensor work: `torch.where(condition, a, b)` where both sides are cheap and
finite, a mask or `clamp` where one side is the identity, `torch.cond` where one side is expensive. If
the answer never changes during training, decide it in `__init__` and store a Python bool.

Mind the gradients: with `torch.where` both sides run, and a side that is infinite or NaN where it
is not chosen still gives a NaN gradient (0 * inf). Clamp its input first. Both sides must also
broadcast to one shape and dtype. That is why the rewrite counts as unsafe. It covers `if`/`else`
that set one name, and the conditional expression, where the condition is a tensor itself (`a in b`
is a bool of Python's), and where both sides may always run: none draws random numbers, changes
something, calls what is not torch's, or has such a gradient.

A layer that is left out with a probability `p`, `if torch.rand(()) < p: continue`, waits for the device in
every step even where `p` is 0, as it is by default. Where the number has a name the rewrite tests
`p` first (`if p > 0 and drawn < p:`): it draws as before, and only a `p` above 0 still ends the graph.
"""

import numpy as np
import torch

from breakscope.rulekit.events import Branch
from breakscope.rulekit.patch import Declined
from breakscope.rulekit.rule import Rule
from breakscope.rulekit.values import Py

rule = Rule("BRK101", "branch-on-tensor", dynamo=("GB0170",), fix="unsafe")


@rule.on(Branch, construct=("if", "elif", "ternary"))
def check(event):
    if event.test.is_tensor and not event.raises and _is_number_of_numpy(event.test):
        yield event.graph_break(
            f"`if {event.written}` tests a number of NumPy's, which is an array while Dynamo traces",
            help="compute it with `math`, or make it Python's by `float(...)` or `int(...)` outside of the compiled code",
            fixable=False,
        )
    elif event.test.is_tensor and not event.raises:
        yield event.graph_break(
            f"`if {event.written}` reads a tensor's value",
            help="choose with `torch.where(condition, a, b)`, or with `torch.cond` when one side is expensive",
        )
    elif isinstance(event.test, Py) and event.test.source == "version":
        yield event.graph_break(
            f"`if {event.written}` asks how often a tensor was changed in place, which only the graph finds out",
            help="note the change where it is made, in a bool of Python's",
            fixable=False,
        )


def _is_number_of_numpy(test):
    return test.kind == "numpy" and test.shape == ()


@rule.rewrite
def rewrite(node, problem, place):
    import libcst as cst

    from breakscope.rulekit import branching
    from breakscope.rulekit import rewriting as rw
    from breakscope.rulekit.rewrites.chosen_rows import without_test
    from breakscope.rulekit.rewrites.drawn_below import zero_first
    from breakscope.rulekit.rewrites.early_return import without_return
    from breakscope.rulekit.rewrites.stored_choice import stored_choice
    from breakscope.rulekit.rewrites.validation import as_assert

    if isinstance(node, cst.If):
        if (made := as_assert(node, problem) or without_test(node, place)) is not None:
            return made
        made = branching.without_branch(node, problem, place)
        if made is None or isinstance(made, Declined):
            return (
                zero_first(node, problem, place)
                or stored_choice(node, problem, place)
                or without_return(node, problem, place)
                or made
            )
        return made
    if not isinstance(node, cst.SimpleStatementLine):
        return None
    for part in rw.walk(node):
        if isinstance(part, cst.IfExp) and rw.same(part.test, problem.node):
            condition = rw.truth(part.test, place)
            if condition is None:
                return None
            chosen = branching.choice(condition, part.body, part.orelse, place)
            return rw.swap(node, part, chosen) if isinstance(chosen, str) else chosen
    return None


@rule.example(
    lambda: (torch.ones(4),), lambda: (-torch.ones(4),), lambda: (torch.full((4,), torch.nan),)
)
def bad(x):
    # warm inputs are doubled
    if x.sum() > 0:  # BRK101
        x = x * 2
    return x + 1


@rule.becomes
def good(x):
    # warm inputs are doubled
    x = torch.where(x.sum() > 0, x * 2, x)
    return x + 1


@rule.example(lambda: (torch.ones(4),), lambda: (-torch.ones(4),), lambda: (torch.empty(0),))
def bad_ternary(x):
    y = x.exp() if x.sum() > 0 else x - 1  # BRK101
    return y * 2


@rule.becomes
def good_ternary(x):
    y = torch.where(x.sum() > 0, x.exp(), x - 1)
    return y * 2


@rule.example(lambda: (torch.ones(4),), module=True, fixed=False)
def bad_number():
    class Model(torch.nn.Module):
        def __init__(self, width=8):
            super().__init__()
            self.scale = np.sqrt(width)

        def forward(self, x):
            return x / self.scale if self.scale > 2 else x  # BRK101

    return Model()


@rule.becomes
def good_number():
    class Model(torch.nn.Module):
        def __init__(self, width=8):
            super().__init__()
            self.scale = float(np.sqrt(width))

        def forward(self, x):
            return x / self.scale if self.scale > 2 else x

    return Model()


class Stack(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layerdrop = 0.0
        self.layer = torch.nn.Linear(4, 4)


@rule.example(lambda: (torch.ones(4),), module=True)
def bad():
    class Model(Stack):
        def forward(self, x):
            if self.training:
                drawn = torch.rand([])
                if drawn < self.layerdrop:  # BRK101
                    return x
            return self.layer(x)

    return Model()


@rule.becomes
def good():
    class Model(Stack):
        def forward(self, x):
            if self.training:
                drawn = torch.rand([])
                if self.layerdrop > 0 and drawn < self.layerdrop:
                    return x
            return self.layer(x)

    return Model()


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0170",))
def bad_version(x):
    y = x + 1
    before = y._version
    y.add_(1)
    return y * 2 if y._version != before else y  # BRK101
