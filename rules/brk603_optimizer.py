"""An optimizer's step inside the region ends the graph.

`optimizer.step()` carries profiler hooks and state that Dynamo does not inline into another region:
it ends the graph there, and `optimizer.zero_grad()`, `add_param_group()`, `state_dict()` and a
scheduler's `step()` do too. With `loss.backward()` between them a train step compiled as one
function falls into four graphs or more.

Leave the step out of the region that computes the loss. To fuse the update, put `optimizer.step()`
into a function of its own and compile that one: behind the break Dynamo compiles the step as one
graph, with the loop over parameters fused. A scheduler wraps `optimizer.step`, and Dynamo does not
trace the wrapper; the step below it is compiled all the same. It changes the learning rate, so give
the optimizer `lr=torch.tensor(...)`: a float is compiled in. Zero the gradients outside, or set
`p.grad = None`.
"""

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.library_names import OPTIMIZERS
from breakscope.rulekit.rule import Rule

OUTSIDE = "call it outside: compile what computes the loss, which compiles the backward pass too"

rule = Rule(
    "BRK603",
    "optimizer-in-region",
    dynamo=(
        r"GB0007: function `\w+\.step` in file .*[/\\]torch[/\\]optim[/\\]",
        r"GB0008: (Optimizer|LRScheduler|ReduceLROnPlateau)\.\w+",
        r"GB0025: User-inserted.* in torch/optim/",
    ),
    seen="Dynamo does not trace {}",
    help=OUTSIDE,
    help_outside="leave it: behind this one break the optimizer's step is compiled by itself, as one graph",
)

METHODS = {
    f"{name}.{method}"
    for name in (*OPTIMIZERS, "torch.optim.Optimizer")
    for method in ("step", "zero_grad", "load_state_dict", "state_dict", "add_param_group")
}


@rule.on(Call, METHODS)
def check(event):
    is_step = event.name.endswith(".step")
    yield event.graph_break(f"Dynamo does not trace `{event.shown}`", help=OUTSIDE, apart=is_step)


SCHEDULERS = tuple(
    """
    LRScheduler LambdaLR MultiplicativeLR StepLR MultiStepLR ConstantLR LinearLR ExponentialLR
    SequentialLR PolynomialLR CosineAnnealingLR ChainedScheduler ReduceLROnPlateau CyclicLR
    CosineAnnealingWarmRestarts OneCycleLR
    """.split()
)


@rule.on(
    Call,
    {
        f"torch.optim.lr_scheduler.{name}.{method}"
        for name in SCHEDULERS
        for method in ("step", "get_last_lr")
    },
)
def check_scheduler(event):
    yield event.graph_break(f"Dynamo does not trace `{event.shown}`", help=OUTSIDE)


@rule.example(lambda: (torch.ones(4),), module=True, equal=False, dynamo=("GB0025",))
def bad():
    weight = torch.ones(4, requires_grad=True)
    weight.grad = torch.ones(4)
    optimizer = torch.optim.Adam([weight], lr=0.1)

    def forward(x):
        y = x * weight
        optimizer.step()  # BRK603
        return y

    return forward


@rule.becomes
def good():
    weight = torch.ones(4, requires_grad=True)

    def forward(x):
        y = x * weight
        return y

    return forward
