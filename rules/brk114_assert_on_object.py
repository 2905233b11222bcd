"""An `assert` on a container or an object, for its length or presence, makes Dynamo skip the whole function.

`assert outputs, "no outputs"` reads no tensor's value, and `if not outputs: raise` costs nothing.
But Dynamo turns an `assert` into an assert inside the graph, and for that it wants the asserted
value as a tensor: a list, tuple or dict with tensors or objects in it, a module or any other object
of a class is none, and the function around the `assert` is skipped as a whole. Constants, strings,
functions, sizes and containers of these are decided while Dynamo traces. An assert whose message
must be computed (an f-string with a placeholder) is not turned into one and costs nothing either.

Write what you mean: `assert len(outputs) > 0`, `assert self.head is not None`.
"""

import torch

from breakscope.rulekit.events import Statement
from breakscope.rulekit.rule import Rule

rule = Rule("BRK114", "assert-on-object", dynamo=("GB0055: argument", "GB0112"))


@rule.on(Statement, construct="assert")
def check(event):
    yield event.problem(
        f"Dynamo cannot put `assert {event.source}` on {event.value.describe()} into the graph, so it ends here",
        help="write `assert len(...) > 0`, or `assert ... is not None`: both are decided while Dynamo traces",
        skips="assert",
    )


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0112",))
def bad(x):
    parts = [x, x * 2]
    assert parts, "nothing to add"  # BRK114
    return sum(parts)


@rule.becomes
def good(x):
    parts = [x, x * 2]
    assert len(parts) > 0, "nothing to add"
    return sum(parts)
