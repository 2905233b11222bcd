"""An argument that is sometimes None compiles two graphs.

`if mask is not None` is decided while Dynamo traces, with a guard on the answer. The first call
with a mask and the first one without each compile; two optional arguments make up to four graphs.

Always pass the argument: a mask of ones, an offset of zeros, which costs little. Or keep the two
cases as two methods.
"""

import torch

from breakscope.rulekit.events import Varies
from breakscope.rulekit.rule import Rule

rule = Rule(
    "BRK711", "optional-argument", kind="recompile", severity="warning", dynamo=("none_argument",)
)


@rule.on(Varies, what="none")
def check(event):
    yield event.problem(
        f"`{event.name}` is None in some calls and not in others; each case is compiled by itself",
        help=f"always pass `{event.name}`, as a mask of ones or a tensor of zeros",
    )


def calls():
    return [(torch.ones(4), None), (torch.ones(4), torch.ones(4))]


@rule.example(calls=calls)
def bad(x, mask):
    if mask is not None:  # BRK711
        x = x * mask
    return x + 1
