"""A custom operator that does not say what comes out of it makes `torch.compile` raise.

Dynamo does not look into an operator made by `torch.library.custom_op`. It runs the graph with tensors that have a
size and a dtype, and no values, and asks the operator's fake implementation what comes out. Without one compiling
fails with a RuntimeError ("There was no fake impl registered"). An operator that returns nothing needs none.

Register a function that makes an empty result of the right size and dtype:

    @twice.register_fake
    def _(x):
        return torch.empty_like(x)
"""

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

# what Dynamo raises here is no break, so that no run of the example shows an id
rule = Rule("BRK621", "custom-op-without-fake", shares=("GB4315",), unshown=("GB4315",))


@rule.on(Call, "custom operator without a fake implementation")
def check(event):
    name = event.receiver.info.name
    yield event.problem(
        f"nothing says what comes out of the operator `{name}`, at which `torch.compile` fails with a RuntimeError",
        help=f"register it: `@{name}.register_fake` on a function that makes an empty result",
    )


@rule.example(lambda: (torch.ones(2),), module=True, dynamo=())
def bad():
    @torch.library.custom_op("breakscope::plain", mutates_args=())
    def plain(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    def call(x):
        return plain(x) + 1  # BRK621

    return call


@rule.becomes
def good():
    @torch.library.custom_op("breakscope::known", mutates_args=())
    def known(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    @known.register_fake
    def _(x):
        return torch.empty_like(x)

    def call(x):
        return known(x) + 1

    return call
