"""Reading `grad_fn` inside the region ends the graph.

`y.grad_fn` is the node of autograd's graph that made `y`. While Dynamo traces a tensor that needs a
gradient there is no such node yet, and because the read cannot be taken up again behind it, the
function around it is skipped as a whole. Where nothing needs a gradient, `grad_fn` is None and
traced as such.

To see whether a gradient is needed read `y.requires_grad`, which is traced. Walk
`grad_fn.next_functions` outside of the region, on the result.
"""

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule("BRK615", "gradient-function", dynamo=("GB0104",), since="2.11")


@rule.on(Call, "Tensor.grad_fn")
def check(event):
    tensor = event.receiver
    if tensor.requires_grad is not False:
        yield event.problem(
            f"`{event.shown}` is not there while Dynamo traces, so the function around it is skipped as a whole",
            help="read `requires_grad` instead, or read it outside the region",
            certainty="likely",
            skips="call",
        )


@rule.example(lambda: (torch.ones(4, requires_grad=True),))
def bad(x):
    y = x * 2
    if y.grad_fn is not None:  # BRK615
        y = y + 1
    return y


@rule.becomes
def good(x):
    y = x * 2
    if y.requires_grad:
        y = y + 1
    return y
