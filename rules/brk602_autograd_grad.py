"""`torch.autograd.grad` inside the region ends the graph.

Gradient penalties, saliency, energy models and force fields compute a gradient in the middle of
`forward`. By default Dynamo stops the graph there and runs it eagerly;
`torch.autograd.functional.jacobian` and its kin end it as well.

Write it with `torch.func`: `torch.func.grad(f)(x)` and `torch.func.vjp` are traced, first and
second order. `f` must be a function of its input that returns one number per call (the sum over the
batch gives the same gradients). From 2.10 on `torch._dynamo.config.trace_autograd_ops = True`
traces the call as it stands.

With `create_graph=True` it is worse than a break: what inductor compiled before it has one backward pass, without a
gradient of its own, so that training through the gradient raises a RuntimeError ("does not currently support double
backward"). `torch.func.grad` puts the gradient into the forward graph, and training works.

The rewrite makes a function of the lines between the input and the output, and takes the gradient of
it; `.requires_grad_()` of the input goes. Without `create_graph=True` the gradient is detached, as it was.
It is unsafe because the input is no leaf any more: where no parameter and no other input needs a
gradient, the result needs none either, and hooks on the tensors in between run inside of the transform.
"""

import ast

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule
from breakscope.rulekit.values import TRUE

rule = Rule(
    "BRK602",
    "autograd-grad",
    dynamo=("GB9186", "GB0007: function `grad`"),
    shares=("GB0055", "GB8985"),
    fix="unsafe",
)


@rule.on(Call, "torch.autograd.grad")
def check(event):
    help = "write it with `torch.func.grad` or `torch.func.vjp`, which are traced"
    if event.argument(4, "create_graph") == TRUE:
        help += "; as it stands, a backward pass through the gradient raises"
    yield event.graph_break(
        f"`{event.shown}` computes a gradient inside the region",
        help=help,
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


@rule.rewrite
def rewrite(node, problem, place):
    import libcst as cst

    from breakscope.rulekit.rewrites.inner_gradient import by_function

    is_plain = isinstance(node, cst.SimpleStatementLine) and len(node.body) == 1
    is_grad = ast.unparse(problem.node.func).endswith("autograd.grad")
    return by_function(node, problem, place) if is_plain and is_grad else None


@rule.example(lambda: (torch.ones(4, requires_grad=True),), dynamo=("GB9186",))
def bad(x):
    y = (x * x).sum()
    (gradient,) = torch.autograd.grad(y, x)  # BRK602
    return gradient.norm()


@rule.becomes
def good(x):
    gradient = torch.func.grad(lambda x: (x * x).sum())(x).detach()
    return gradient.norm()


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0055",), fixed=False)
def bad(x):
    rows = torch.autograd.functional.jacobian(lambda x: x.sin(), x)  # BRK602
    return rows.sum()


@rule.becomes
def good(x):
    rows = torch.func.jacrev(lambda x: x.sin())(x)
    return rows.sum()
