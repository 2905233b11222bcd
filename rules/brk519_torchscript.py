"""A TorchScript module or task inside the region ends the graph.

A module made by `torch.jit.script` or `torch.jit.trace` runs in the TorchScript runtime, which
Dynamo cannot look into; `torch.jit.fork` starts a task there. (A plain function under
`@torch.jit.script` is traced through its Python source.)

Use the eager module: compile replaces what scripting was for. Load weights into it with
`load_state_dict`.
"""

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule(
    "BRK519",
    "torchscript",
    dynamo=(
        "GB4695",
        "GB0008: _CachedForward",
        "GB0007: function `(fork|wait)`",
        "GB0098: function (trace|script)",
    ),
)

MODULES = {"torch.jit.ScriptModule.__call__", "torch.jit.TracedModule.__call__"}


@rule.on(Call, MODULES, "torch.jit.fork", "torch.jit.wait", "torch.jit.trace", "torch.jit.script")
def check(event):
    yield event.graph_break(
        f"`{event.shown}` runs in the TorchScript runtime",
        help="use the eager module or function; `torch.compile` replaces scripting",
    )


def double(x):
    return x * 2


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0007",))
def bad(x):
    task = torch.jit.fork(double, x)  # BRK519
    return torch.jit.wait(task) + 1  # BRK519


@rule.becomes
def good(x):
    return double(x) + 1


@rule.example(lambda: (torch.ones(2, 4),), module=True, dynamo=("GB4695",))
def bad_module():
    scripted = torch.jit.script(torch.nn.Linear(4, 4))

    def forward(x):
        return scripted(x) + 1  # BRK519

    return forward


@rule.becomes
def good_module():
    plain = torch.nn.Linear(4, 4)

    def forward(x):
        return plain(x) + 1

    return forward
