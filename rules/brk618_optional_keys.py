"""Making a TypedDict of which keys may be missing ends the graph.

A class under `TypedDict` makes plain dicts. Dynamo makes them too, unless some of the keys are
optional: those of a class with `total=False`, and those that are annotated as `NotRequired`. Then it
stops at the call (GB0257), and goes on behind it with the dict that Python made.

Write the dict itself, `{"mask": mask}`; where its type is to be known, annotate the name,
`options: Options = {"mask": mask}`. It is the same dict. Or make the keys required.
"""

from typing import TypedDict

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule("BRK618", "optional-keys", dynamo=("GB0257",), since="2.9")


@rule.on(Call, "typing.TypedDict()")
def check(event):
    name = event.receiver.info.name
    yield event.graph_break(
        f"`{event.shown}` makes a TypedDict of which keys may be missing, which Dynamo does not trace",
        help=f"write the dict itself; a name can be annotated, `options: {name} = {{...}}`",
        certainty="certain",
    )


class Options(TypedDict, total=False):
    scale: float
    mask: torch.Tensor


@rule.example(lambda: (torch.ones(4),))
def bad(x):
    options = Options(scale=2.0)  # BRK618
    return x * options["scale"]


@rule.becomes
def good(x):
    options: Options = {"scale": 2.0}
    return x * options["scale"]
