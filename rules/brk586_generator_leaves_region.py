"""A generator that the compiled code returns beside tensors, or keeps in an attribute, skips the whole function.

What a region leaves behind, Dynamo makes anew when the graph has run. It cannot do that for a generator
expression, which has begun to go over another iterator (GB8335, GB0091): nothing of the function is compiled. What a
function with `yield` gives is made anew, and a generator that the region itself goes over costs nothing.

A function that is given such a generator, and breaks inside, skips the function that calls it too (GB8335):
Dynamo cannot hand on what `enumerate(...)`, a generator expression, `itertools.chain(...)`, or a module's `parameters()`,
`children()` and `modules()` have begun.

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


@rule.on(Call, "generator handed to a call")
def check_handed(event):
    name = event.receiver.info.name
    yield event.problem(
        f"`{event.shown}` breaks inside, and is given a generator, which Dynamo cannot make anew behind the break, so the "
        "function is skipped as a whole",
        help=f"fix the break in `{name}`, or hand on a list: `list(...)`",
        certainty="likely",
        skips="call",
        fixable=False,
    )


@rule.example(lambda: (torch.ones(3),), dynamo=("GB8335",), equal=False)
def bad(x):
    parts = (x * n for n in (1, 2))
    return x.sum(), parts  # BRK586


@rule.becomes
def good(x):
    parts = [x * n for n in (1, 2)]
    return x.sum(), parts
