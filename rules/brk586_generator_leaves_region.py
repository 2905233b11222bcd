"""A generator that the compiled code returns beside tensors, or keeps in an attribute, skips the whole function.

What a region leaves behind, Dynamo makes anew when the graph has run. It cannot do that for a generator
expression, which has begun to go over another iterator (GB8335, GB0091): nothing of the function is compiled. What a
function with `yield` gives is made anew, and a generator that the region itself goes over costs nothing.

Return or keep a list or a tuple: `[f(x) for x in xs]` instead of `(f(x) for x in xs)`.
"""

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule("BRK586", "generator-leaves-region", shares=("GB8335", "GB0091"), unshown=("GB0091",))


@rule.on(Call, "generator leaves the region")
def check(event):
    yield event.graph_break(
        f"`{event.shown}` {event.args[0].value} a generator, which Dynamo cannot make anew behind the graph",
        help="make a list or a tuple of it",
        skips="call",
    )


@rule.example(lambda: (torch.ones(3),), dynamo=("GB8335",), equal=False)
def bad(x):
    parts = (x * n for n in (1, 2))
    return x.sum(), parts  # BRK586


@rule.becomes
def good(x):
    parts = [x * n for n in (1, 2)]
    return x.sum(), parts
