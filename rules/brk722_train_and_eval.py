"""A model that is called in training mode and in evaluation mode is compiled for each.

`model.train()` and `model.eval()` set a flag on every submodule, and Dynamo guards the flags that
the region reads: those of Dropout, BatchNorm and their like, and `self.training` in the model's own
code. The first call in the other mode compiles a second graph. Two are right in most programs; both
are kept, and going back and forth costs nothing more.

Call the model once in both modes before timing. A model without such layers compiles once.
"""

import torch

from breakscope.rulekit.events import Varies
from breakscope.rulekit.rule import Rule

rule = Rule("BRK722", "train-and-eval", kind="recompile", severity="info", dynamo=("attribute",))


@rule.on(Varies, what="training")
def check(event):
    yield event.problem(
        "some calls run in training mode and some in evaluation mode, so each is compiled by itself",
        help="two graphs are usually right; warm up both before timing",
    )


def drive(call, model):
    model.train()
    call(torch.ones(4))
    model.eval()
    call(torch.ones(4))


@rule.example(drive=drive, module=True)
def bad():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.drop = torch.nn.Dropout(0.5)

        def forward(self, x):
            return self.drop(x) + 1  # BRK722

    return Net()
