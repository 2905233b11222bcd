"""A hook that is taken off again makes the region compile once more.

A forward hook, or a pre-hook, on a module inside of the compiled one is traced with it. Where Dynamo finds
such hooks, it guards their number, and `handle.remove()` changes it: the next call compiles without the
hook. One that is put on after the first call does not even run: Dynamo does not look whether there are
hooks where it has found none.

Take hooks off before the first compiled call, or collect what they see from the module as it was before
`torch.compile`: `model(x)`, and not `compiled(x)`. What is wanted in each call is best returned by `forward`.
"""

import torch

from breakscope.rulekit.events import Varies
from breakscope.rulekit.rule import Rule

rule = Rule(
    "BRK732", "hook-taken-off", kind="recompile", severity="warning", dynamo=("container_length",)
)


@rule.on(Varies, what="hooks")
def check(event):
    yield event.problem(
        "a hook is taken off between calls, or another one put on, so the region is compiled again",
        help="run the module with the hook as it was before torch.compile, and the compiled one without",
    )


def drive(call, model):
    handle = model.linear.register_forward_hook(lambda module, args, output: output * 2)
    call(torch.ones(2, 4))
    handle.remove()
    call(torch.ones(2, 4))


@rule.example(drive=drive, module=True)
def bad():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(4, 4)

        def forward(self, x):
            return self.linear(x).relu()  # BRK732

    return Net()
