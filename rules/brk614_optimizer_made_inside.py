"""Making an optimizer inside the region ends the graph.

`torch.optim.SGD(params, lr)` in compiled code reaches `Optimizer.add_param_group`, which torch
keeps out of tracing; the graph ends there, and the function around it is skipped where `params`
is a generator such as `net.parameters()`. Inner loops (test-time training, meta-learning, inversion
of a latent) are written this way.

Make the optimizer outside, once. For an inner loop inside the region take the step by hand, with
gradients of `torch.func.grad`: `w = w - lr * grad(loss)(w)` is plain tensor work.
"""

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.library_names import OPTIMIZERS
from breakscope.rulekit.rule import Rule

rule = Rule(
    "BRK614",
    "optimizer-made-inside",
    dynamo=(r"GB0008: Optimizer\.add_param_group", "GB8335: Generator"),
)


@rule.on(Call, OPTIMIZERS)
def check(event):
    yield event.graph_break(
        f"`{event.shown}` makes an optimizer while the model runs",
        help="make it outside the region; an inner loop can take its steps with `torch.func.grad`",
    )


@rule.example(lambda: (torch.ones(4, 4),), module=True)
def bad():
    layer = torch.nn.Linear(4, 4)
    # the first one of a process patches its class, which is a break of its own
    torch.optim.SGD(layer.parameters())

    def forward(x):
        optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)  # BRK614
        return layer(x) * optimizer.param_groups[0]["lr"]

    return forward


@rule.becomes
def good():
    layer = torch.nn.Linear(4, 4)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)

    def forward(x):
        return layer(x) * optimizer.param_groups[0]["lr"]

    return forward
