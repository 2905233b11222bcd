"""Changing how a module's weights are parametrized inside the region ends the graph.

`weight_norm(layer)`, `remove_weight_norm(layer)`, `parametrize.register_parametrization(...)` and
`prune.*` replace parameters of a module, register hooks and change its class. Dynamo traces a
parametrized module, but not the change: the graph ends at the call, and the module that comes out
is guarded anew, so the region is compiled again. Setting what is parametrized, `self.weight = new`,
writes into the parameter that it is computed of, which ends the graph, too.

Parametrize in `__init__`, and remove or prune between steps, before the model is compiled or after
`torch.compiler.reset()`. A weight that is only normalised needs neither: `F.linear(x,
F.normalize(w, dim=1))`.
"""

import torch
import torch.nn.utils.prune

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule(
    "BRK534",
    "reparametrizing-inside",
    dynamo=("GB0121", "GB0148: .*parametriz"),
    shares=("GB0264", "GB0467", "GB0007"),
    unshown=("GB0121",),
)

NAMES = {
    "torch.nn.utils": "weight_norm remove_weight_norm spectral_norm remove_spectral_norm",
    "torch.nn.utils.parametrizations": "weight_norm spectral_norm orthogonal",
    "torch.nn.utils.parametrize": "register_parametrization remove_parametrizations",
    "torch.nn.utils.prune": "identity random_unstructured l1_unstructured random_structured ln_structured "
    "global_unstructured custom_from_mask remove",
}
FUNCTIONS = {f"{module}.{name}" for module, names in NAMES.items() for name in names.split()}


@rule.on(Call, FUNCTIONS)
def check(event):
    yield event.graph_break(
        f"`{event.shown}` replaces parameters of a module while the model runs",
        help="do it in `__init__`, or between steps and before the model is compiled",
    )


@rule.on(Call, "torch.nn.utils.parametrize.__set__")
def check_stored(event):
    yield event.graph_break(
        f"`{event.shown}` sets what is parametrized: torch writes into the parameter behind it",
        help="keep such a state in a buffer, and compute with that",
    )


@rule.example(lambda: (torch.ones(2, 4),), module=True, dynamo=("GB0264",))
def bad():
    layer = torch.nn.utils.weight_norm(torch.nn.Linear(4, 4))

    def forward(x):
        torch.nn.utils.remove_weight_norm(layer)  # BRK534
        return layer(x)

    return forward


@rule.becomes
def good():
    layer = torch.nn.utils.weight_norm(torch.nn.Linear(4, 4))
    torch.nn.utils.remove_weight_norm(layer)

    def forward(x):
        return layer(x)

    return forward


@rule.example(lambda: (torch.ones(2, 4),), module=True, dynamo=("GB0467",))
def bad():
    layer = torch.nn.Linear(4, 4)

    def forward(x):
        torch.nn.utils.prune.l1_unstructured(layer, "weight", amount=0.25)  # BRK534
        return layer(x)

    return forward


@rule.example(lambda: (torch.ones(2, 4),), module=True, dynamo=("GB0007", "GB0264"))
def bad():
    layer = torch.nn.Linear(4, 4)

    def forward(x):
        torch.nn.utils.weight_norm(layer)  # BRK534
        return layer(x)

    return forward


class Positive(torch.nn.Module):
    def forward(self, values):
        return values.exp()

    def right_inverse(self, values):
        return values.log()


@rule.example(lambda: (torch.ones(4),), module=True, dynamo=("GB0148",))
def bad():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("scale", torch.ones(4))
            torch.nn.utils.parametrize.register_parametrization(self, "scale", Positive())

        def forward(self, x):
            self.scale = self.scale * 2  # BRK534
            return x * self.scale

    return Net()
