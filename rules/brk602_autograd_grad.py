"""`torch.autograd.grad` inside the region ends the graph.

Gradient penalties, saliency, energy models and force fields compute a gradient in the middle of
`forward`. By default Dynamo stops the graph there and runs it eagerly;
`torch.autograd.functional.jacobian` and its kin end it as well.

Write it with `torch.func`: `torch.func.grad(f)(x)` and `torch.func.vjp` are traced, first and
second order. `f` must be a function of its input that returns one number per call (the sum over the
batch gives the same gradients). From 2.10 on `torch._dynamo.config.trace_autograd_ops = True`
traces the call as it stands.
"""

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule(
    "BRK602",
    "autograd-grad",
    dynamo=("GB9186", "GB0007: function `grad`"),
    shares=("GB0055", "GB8985"),
)


@rule.on(Call, "torch.autograd.grad")
def check(event):
    yield event.graph_break(
        f"`{event.shown}` computes a gradient inside the region",
        help="write it with `torch.func.grad` or `torch.func.vjp`, which are traced",
    )


@rule.on(
    Call,
    {
        f"torch.autograd.functional.{name}"
        for name in ("jacobian", "hessian", "vjp", "jvp", "hvp", "vhp")
    },
)
def check_functional(event):
    name = event.name.rpartition(".")[2]
    name = {"jacobian": "jacrev", "vhp": "vjp", "hvp": "jvp"}.get(name, name)
    yield event.problem(
        f"Dynamo does not trace `{event.name}`, so the graph ends at `{event.shown}`",
        help=f"write it with `torch.func.{name}`",
    )


@rule.example(lambda: (torch.ones(4, requires_grad=True),), dynamo=("GB9186",))
def bad(x):
    y = (x * x).sum()
    (gradient,) = torch.autograd.grad(y, x)  # BRK602
    return gradient.norm()


@rule.becomes
def good(x):
    gradient = torch.func.grad(lambda x: (x * x).sum())(x)
    return gradient.norm()


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0055",))
def bad(x):
    rows = torch.autograd.functional.jacobian(lambda x: x.sin(), x)  # BRK602
    return rows.sum()


@rule.becomes
def good(x):
    rows = torch.func.jacrev(lambda x: x.sin())(x)
    return rows.sum()
