"""Registering a module's hook inside the region ends the graph.

`module.register_forward_hook(f)`, its pre and backward forms too, count their handles in a class
attribute of torch, which Dynamo does not set; removing a handle that came from outside ends the
graph as well. The hook itself is traced when the module is called.

Register hooks once, before the model is compiled, and let a flag or a list decide whether the hook
records anything. To get at an inner activation, return it, or put it into a container that the
caller passes in.
"""

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule(
    "BRK608",
    "hook-inside-region",
    dynamo=("GB0467: setattr.. is not supported on type type", "GB0013: RemovableHandle"),
)


@rule.on(Call, "module.register_hook")
def check(event):
    yield event.graph_break(
        f"`{event.shown}` registers a hook while the model runs",
        help="register it once, before the model is compiled; let a flag decide whether it records anything",
    )


@rule.on(Call, "torch.utils.hooks.RemovableHandle")
def check_handle(event):
    yield event.graph_break(
        f"`{event.shown}` makes the handle of a hook while the model runs",
        help="register it once, before the model is compiled; let a flag decide whether it records anything",
    )


@rule.on(Call, "torch.utils.hooks.RemovableHandle.remove")
def check_removal(event):
    yield event.graph_break(
        f"`{event.shown}` removes a hook while the model runs",
        help="leave the hook registered and let a flag decide whether it records anything",
    )


@rule.example(lambda: (torch.ones(2, 4),), module=True, dynamo=("GB0467",))
def bad():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(4, 4)

        def forward(self, x):
            seen = []
            self.layer.register_forward_hook(lambda _, given, made: seen.append(made))  # BRK608
            return self.layer(x) + 1

    return Net()


@rule.becomes
def good():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(4, 4)

        def forward(self, x):
            seen = []
            seen.append(self.layer(x))
            return seen[0] + 1

    return Net()


@rule.example(lambda: (torch.ones(2, 4),), module=True, equal=False, dynamo=("GB0013",))
def bad_removal():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(4, 4)
            self.handle = self.layer.register_forward_hook(lambda module, given, made: made * 2)

        def forward(self, x):
            y = self.layer(x)
            self.handle.remove()  # BRK608
            return y + 1

    return Net()
