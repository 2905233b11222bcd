"""`x.type(torch.Tensor)` ends the graph.

`Tensor.type` takes a dtype, its name, or one of the old classes `torch.FloatTensor`,
`torch.LongTensor`, and Dynamo traces all of these. `torch.Tensor` itself, and `type(x)`, it cannot
put into the graph.

Name the dtype: `mask.to(torch.float32)`, or `mask.to(x.dtype)` to follow another tensor.
(`torch.Tensor` stands for the default dtype, `torch.get_default_dtype()`, on the CPU.)
"""

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule
from breakscope.rulekit.values import External

rule = Rule("BRK555", "cast-to-tensor-class", dynamo=("GB7489",))


@rule.on(Call, "Tensor.type")
def check(event):
    if External("torch.Tensor") in (*event.args[:1], event.kwargs.get("dtype")):
        yield event.graph_break(
            f"`{event.shown}` casts to a class, which Dynamo cannot put into the graph",
            help="cast to a dtype: `.to(torch.float32)`, or `.to(other.dtype)`",
        )


@rule.example(lambda: (torch.ones(4),), lambda: (torch.full((4,), torch.nan),), dynamo=("GB7489",))
def bad(x):
    return x * (x < 0).type(torch.Tensor)  # BRK555


@rule.becomes
def good(x):
    return x * (x < 0).to(torch.float32)
