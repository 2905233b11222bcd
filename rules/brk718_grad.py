"""Calls with and without gradients compile two graphs.

Dynamo guards the grad mode and whether each input requires grad: `model(x)` in training and under
`torch.no_grad()` in evaluation are two graphs, and so are inputs with and without `requires_grad`, and
tensors that were made under `torch.inference_mode()` and others.
Two are usually right; a probe in the middle of training that flips the mode for each batch is not.

A buffer into which a region writes what requires grad does so from then on, and keeps the graph of each call.

Evaluate in one place, after warming up both. Detach inputs that need no gradient before the call, and what is
kept for the next one.
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


WORDS = {
    "requires_grad": "{name} requires grad in some calls only",
    "kept requires_grad": "{name} requires grad in some calls only, as what the region writes to it does",
    "inference": "{name} was made under `torch.inference_mode` in some calls only",
    "grad_mode": "some calls run without gradients",
}
HELP = {
    "requires_grad": "two versions are right where gradients of {name} are needed in some calls; else detach it before"
    " each",
    "kept requires_grad": "write to {name} what is detached, as by `value.detach()`, or under `torch.no_grad()`; else it"
    " keeps the graph of each call",
    "model": "freeze and unfreeze before the first call, or accept a version for each phase",
    "inference": "make it under the same mode in every call, as by one `torch.inference_mode()` around all of them",
    "grad_mode": "two versions, with and without gradients, are usually right: call both once before timing",
}


@rule.on(Varies, what=tuple(WORDS))
def check(event):
    # of the model no parameter names it
    is_model = event.what == "requires_grad" and event.name == event.what
    word = "a parameter of the model" if is_model else f"`{event.name}`"
    yield event.problem(
        f"{WORDS[event.what].format(name=word)}, so each case is compiled by itself",
        help=HELP["model" if is_model else event.what].format(name=word),
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


def drive_inference(call, model):
    x = torch.ones(4)
    with torch.inference_mode():
        for _ in range(2):
            x = call(x)


@rule.example(drive=drive_inference, dynamo=("grad_mode",))
def bad_inference(x):
    return x * 2  # BRK718
