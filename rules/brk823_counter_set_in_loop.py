"""A loop counts up an attribute of a compiled module, and each value compiles anew.

Dynamo takes int attributes of a module for constants of the code. `model.epoch = epoch` in a loop
makes the compiled code stale in each pass; behind `torch._dynamo.config.recompile_limit` (8) the
module is skipped without a word. An int that is passed as an argument is made dynamic at its
second value, and so is a float attribute.

Pass the number to `forward`, keep it in a buffer (`self.register_buffer("epoch", torch.tensor(0))`,
then `model.epoch.fill_(epoch)`), or set `torch._dynamo.config.allow_unspec_int_on_nn_module =
True`.
"""

import torch

from breakscope.rulekit.rule import Rule
from breakscope.rulekit.usage import Use

rule = Rule("BRK823", "counter-set-in-loop", kind="usage", severity="warning")


@rule.on(Use, name="=", varies="int")
def check(event):
    yield event.problem(
        f"`{event.subject}.{event.attribute}` changes in each pass, and each value compiles `{event.subject}` anew",
        help=f"pass `{event.attribute}` as an argument, or keep it in a tensor (a buffer)",
    )


class Warm(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.epoch = 0

    def forward(self, x):
        return x * (1 + self.epoch)


class WarmByArgument(torch.nn.Module):
    def forward(self, x, epoch):
        return x * (1 + epoch)


@rule.program(shows={"graphs": 5}, instead={"graphs": 2})
def bad():
    model = torch.compile(Warm(), backend="eager")
    for epoch in range(5):
        model.epoch = epoch  # BRK823
        model(torch.ones(4))


@rule.becomes
def good():
    model = torch.compile(WarmByArgument(), backend="eager")
    for epoch in range(5):
        model(torch.ones(4), epoch)
