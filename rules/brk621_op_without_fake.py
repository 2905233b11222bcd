"""A call of an operator of your own that has no fake implementation makes `torch.compile` raise.

`@torch.library.custom_op` puts a function into the graph as one node. Dynamo does not run it while it traces: it asks for the
shape and dtype of the result, which only a fake implementation can say, and fails without one ("There was no fake impl
registered"). An operator that returns nothing needs none.

Register one beside the operator: a function with the same parameters that returns an empty tensor of the right shape,
dtype and device, or several.
"""

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

# what Dynamo raises here is no break, so that no run of the example shows an id
rule = Rule("BRK621", "op-without-fake", shares=("GB4315",), unshown=("GB4315",))


@rule.on(Call, "operator without a fake implementation")
def check(event):
    name = event.receiver.info.name
    yield event.problem(
        f"`{event.shown}` calls an operator without a fake implementation, at which `torch.compile` fails with a RuntimeError",
        help=f"register one: `@{name}.register_fake` above a function that returns an empty tensor of the result's shape",
    )


@rule.example(lambda: (torch.ones(4),), module=True, dynamo=())
def bad():
    @torch.library.custom_op("breakscope_rules::doubled", mutates_args=())
    def doubled(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    def forward(x):
        return doubled(x) + 1  # BRK621

    return forward
