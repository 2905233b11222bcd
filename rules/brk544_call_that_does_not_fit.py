"""Trying a call with an argument that the function does not take ends the graph.

`try: y = layer(x, lengths=n)` with `except TypeError: y = layer(x)` tests by calling whether a layer
takes an argument. In eager mode Python raises a TypeError and the handler goes on; Dynamo ends the
graph where the arguments do not fit, and as that is inside a `try` the whole function is skipped.

Decide once, in `__init__`: by the layer's type, or by its signature
(`inspect.signature(layer.forward).parameters`), and keep the answer in an attribute.
"""

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule("BRK544", "call-that-does-not-fit", dynamo=("GB7312",))


@rule.on(Call, "call that does not fit")
def check(event):
    yield event.graph_break(
        f"`{event.source}` passes what `{event.receiver.info.name}` does not take",
        help="decide in `__init__` which layers take the argument, instead of trying it in every call",
        certainty="likely",
    )


@rule.example(lambda: (torch.ones(4),), dynamo=("GB7312",), module=True)
def bad():
    def layer(x):
        return x * 2

    def forward(x):
        try:
            y = layer(x, lengths=4)  # BRK544
        except TypeError:
            y = layer(x)
        return y

    return forward


@rule.becomes
def good():
    def layer(x):
        return x * 2

    def forward(x):
        return layer(x)

    return forward
