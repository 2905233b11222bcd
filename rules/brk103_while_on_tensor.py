"""A `while` loop that runs until a tensor says stop ends the graph at every test.

How often the body runs depends on data, so no single graph can hold the loop. Dynamo breaks at the
test; each pass then runs as compiled fragments with a device synchronisation between them, and when
the test stands inside another loop, a `try` or behind `and`, Dynamo gives the whole function up.

Choose by what the loop is for:
- a bound is known: `for _ in range(bound)` and freeze what has finished with `torch.where(done, old, new)`;
- the body is expensive and the count varies: `torch._higher_order_ops.while_loop` keeps the loop inside the graph (traced
  without a break on 2.13);
- the loop is a driver (sampling until end of text, a solver): compile the body, and leave the loop in Python outside.

A masked loop runs all its passes: gradients flow through `torch.where` of each, and a body that
overflows after convergence gives NaN gradients even where its result is not taken. No rewrite is
offered, since the bound is yours.
"""

import torch

from breakscope.rulekit.events import Branch
from breakscope.rulekit.rule import Rule

rule = Rule("BRK103", "while-on-tensor", shares=("GB0170",))


@rule.on(Branch, construct="while")
def check(event):
    if event.test.is_tensor:
        yield event.problem(
            f"`while {event.written}` reads a tensor's value in every pass, so the graph ends at each test",
            help="loop a fixed number of times and freeze finished values with `torch.where`, or compile only the body",
        )


@rule.example(
    lambda: (torch.full((4,), 5.0),),
    lambda: (torch.zeros(4),),
    lambda: (torch.full((4,), torch.nan),),
)
def bad(x):
    while x.abs().max() > 1:  # BRK103
        x = x / 2
    return x + 1


@rule.becomes
def good(x):
    for _ in range(8):
        x = torch.where(x.abs().max() > 1, x / 2, x)
    return x + 1
