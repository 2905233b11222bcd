"""`torch.autograd.Variable(x)` inside the region ends the graph.

`Variable` has been `Tensor` since torch 0.4. What is left of it is a class written in C whose call
gives a tensor that shares the memory of `x` and is cut from its history. Dynamo does not trace the
call (GB0007), and where it stands in an expression the whole function may be skipped.

Write the tensor itself: a buffer or a new tensor needs no wrapping. Where the history is to be cut,
write `x.detach()`.
"""

import torch
from torch.autograd import Variable

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule("BRK547", "variable", dynamo=(r"GB0007: _LegacyVariableBase",))


@rule.on(Call, "torch.autograd.Variable")
def check(event):
    yield event.problem(
        f"Dynamo does not trace the old `Variable` class, so the graph ends at `{event.shown}`",
        help="drop it: a tensor needs no wrapping; `x.detach()` cuts the history",
    )


@rule.example(lambda: (torch.ones(4),))
def bad(x):
    state = Variable(torch.zeros(4))  # BRK547
    return x + state


@rule.becomes
def good(x):
    state = torch.zeros(4)
    return x + state
