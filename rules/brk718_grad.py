"""Calls with and without gradients compile two graphs.

Dynamo guards the grad mode and whether each input requires grad: `model(x)` in training and under
`torch.no_grad()` in evaluation are two graphs, and so are inputs with and without `requires_grad`.
Two are usually right; a probe in the middle of training that flips the mode for each batch is not.

Evaluate in one place, after warming up both. Detach inputs that need no gradient before the call.
"""

import torch

from breakscope.rulekit.events import Varies
from breakscope.rulekit.rule import Rule

rule = Rule(
    "BRK718",
    "grad-varies",
    kind="recompile",
    severity="warning",
    dynamo=("requires_grad", "grad_mode"),
)


@rule.on(Varies, what=("requires_grad", "grad_mode"))
def check(event):
    what = f"`{event.name}` requires grad in some calls only"
    if event.what == "grad_mode":
        what = "some calls run without gradients"
    elif event.name == event.what:  # of the model, which no parameter names
        what = "parameters require grad in some calls only"
    yield event.problem(
        f"{what}, so each case is compiled by itself",
        help="detach inputs that need no gradient, and keep evaluation in one place",
    )


def drive(call, model):
    call(torch.ones(4))
    with torch.no_grad():
        call(torch.ones(4))


@rule.example(drive=drive, dynamo=("grad_mode",))
def bad(x):
    return x * 2  # BRK718


def drive_freezing(call, model):
    call(torch.ones(2, 4))
    for parameter in model.parameters():
        parameter.requires_grad_(False)
    call(torch.ones(2, 4))


@rule.example(drive=drive_freezing, module=True, dynamo=("requires_grad",))
def bad_frozen():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(4, 4)

        def forward(self, x):
            return self.linear(x).relu()  # BRK718

    return Net()
