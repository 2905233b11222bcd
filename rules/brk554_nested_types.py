"""`isinstance` with a tuple inside the tuple of types ends the graph.

Python takes `isinstance(x, (int, (list, tuple)))` and looks into the inner tuple. Dynamo wants
every entry to be a type, raises a `TypeError` of its own, and leaves the whole function to eager
Python. It does not come to that when the object asked about is a tensor.

Write one flat tuple: `(int, list, tuple)`, or `(*NUMBERS, list)` where a part has a name.
"""

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule
from breakscope.rulekit.values import options

rule = Rule("BRK554", "nested-types", shares=("GB0088",))


@rule.on(Call, "object.__instancecheck__")
def check(event):
    asked = options(event.args[0]) if event.args else ()
    if not all(value.is_tensor for value in asked):
        unsure = any(value.is_tensor or value.is_unknown for value in asked)
        yield event.problem(
            f"`{event.shown}` has a tuple among the types, which Dynamo refuses, so the function runs without it",
            help="write one flat tuple of types",
            certainty="possible" if unsure else "certain",
        )


@rule.example(lambda: (torch.ones(4), 2.0), lambda: (-torch.ones(4), 1.0), dynamo=("GB0088",))
def bad(x, factor):
    if isinstance(factor, (int, (list, tuple))):  # BRK554
        return x
    return x * factor


@rule.becomes
def good(x, factor):
    if isinstance(factor, (int, list, tuple)):
        return x
    return x * factor
