"""An optimizer's step inside the region ends the graph.

`optimizer.step()` carries profiler hooks and state that Dynamo does not inline into another region:
it ends the graph there, and `optimizer.zero_grad()` and a scheduler's `step()` do too. With
`loss.backward()` between them a train step compiled as one function falls into four graphs or more.

Compile the model and, separately, the step: `step = torch.compile(optimizer.step)` makes the update
one graph of its own, with the loop over parameters fused. Zero the gradients outside, or set
`p.grad = None`.
"""

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule(
    "BRK603",
    "optimizer-in-region",
    dynamo=(r"GB0007: \.step`", r"GB0008: (Optimizer\.|LRScheduler\.)"),
    shares=("GB0025",),
)

OPTIMIZERS = (
    "Optimizer",
    "SGD",
    "Adam",
    "AdamW",
    "Adamax",
    "Adadelta",
    "Adagrad",
    "ASGD",
    "LBFGS",
    "NAdam",
    "RAdam",
    "RMSprop",
    "Rprop",
    "SparseAdam",
    "Adafactor",
    "Muon",
)
METHODS = {
    f"torch.optim.{name}.{method}"
    for name in OPTIMIZERS
    for method in ("step", "zero_grad", "load_state_dict")
}


@rule.on(Call, METHODS)
def check(event):
    if event.name.endswith(".step"):
        help = (
            "leave it out of the region and compile it by itself: `torch.compile(optimizer.step)`"
        )
    else:
        help = "call it outside the compiled region"
    yield event.graph_break(f"Dynamo does not inline `{event.shown}`", help=help)


SCHEDULERS = (
    "LRScheduler",
    "LambdaLR",
    "MultiplicativeLR",
    "StepLR",
    "MultiStepLR",
    "ConstantLR",
    "LinearLR",
    "ExponentialLR",
    "SequentialLR",
    "PolynomialLR",
    "CosineAnnealingLR",
    "ChainedScheduler",
    "ReduceLROnPlateau",
    "CyclicLR",
    "CosineAnnealingWarmRestarts",
    "OneCycleLR",
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
    yield event.graph_break(
        f"Dynamo does not trace `{event.shown}`",
        help="step the scheduler outside the compiled region",
    )


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
