"""Inputs of another memory layout compile again.

Dynamo guards the strides of its inputs: a transposed or sliced tensor, or `channels_last`, has the
same sizes and other strides, and gets a graph of its own.

Bring inputs to one layout outside the region: `x.contiguous()`, or
`x.contiguous(memory_format=torch.channels_last)`.
"""

import torch

from breakscope.rulekit.events import Varies
from breakscope.rulekit.rule import Rule

rule = Rule("BRK715", "layout-varies", kind="recompile", severity="warning", dynamo=("stride",))


@rule.on(Varies, what="stride")
def check(event):
    yield event.problem(
        f"`{event.name}` comes in several memory layouts, whose strides are guarded, so it is compiled again",
        help=f"call `{event.name}.contiguous()` outside the compiled region",
    )


def calls():
    return [(torch.ones(4, 4),), (torch.ones(4, 4).t(),)]


@rule.example(calls=calls)
def bad(x):
    return x.sin().sum(-1)  # BRK715
