"""A module with a backward hook ends the graph at its call.

`register_full_backward_hook` wraps the module's inputs and outputs in autograd nodes that exist
only eagerly, so Dynamo stops at every call of such a module. The old `register_backward_hook` ends
it in the same place.

Put a hook on the tensor instead: `y.register_hook(f)` on the module's output is traced and sees the
same gradient. A forward hook is traced as well. For gradient norms per layer, read `p.grad` after
the backward pass.
"""

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule("BRK604", "backward-hook", dynamo=("GB0083",))


@rule.on(
    Call,
    {
        f"torch.nn.Module.{name}"
        for name in ("full_backward_hook", "backward_hook", "full_backward_pre_hook")
    },
)
def check(event):
    yield event.problem(
        f"the module behind `{event.shown}` has a backward hook, so the graph ends at its call",
        help="use `register_hook` on the module's output, or read `p.grad` after the backward pass",
    )


def keep(module, given, received):
    return None


@rule.example(lambda: (torch.ones(2, 4),), module=True, equal=False, dynamo=("GB0083",))
def bad():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(4, 4)
            self.layer.register_full_backward_hook(keep)

        def forward(self, x):
            return self.layer(x).relu()  # BRK604

    return Net()


@rule.becomes
def good():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(4, 4)

        def forward(self, x):
            y = self.layer(x)
            y.register_hook(torch.neg)
            return y.relu()

    return Net()
