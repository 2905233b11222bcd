"""Setting an attribute of a class inside the region ends the graph in torch before 2.13.

`Counter.total += 1`, `type(self).calls = 0` and `setattr(SomeClass, name, value)` write to an
object that every other piece of code sees. Dynamo before 2.13 has no way to replay such a store
behind the graph, so it stops there and lets Python do it; inside a `with` or the `__enter__` of a
context manager the whole function is skipped. torch 2.13 traces the store.

Keep the state on an instance, or pass it in and return it. What only counts for debugging belongs
under `if not torch.compiler.is_compiling():`.
"""

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule("BRK525", "class-attribute-store", dynamo=("GB0059: operator `setattr`",), until="2.13")


@rule.on(Call, "type.__setattr__")
def check(event):
    undoes = event.function.rpartition(".")[2] == "__exit__"  # what `__enter__` set, and broke by
    yield event.graph_break(
        f"`{event.shown}` sets an attribute of a class inside the region",
        help="keep it on an instance, or set it outside the compiled region",
        certainty="possible" if undoes else None,
    )


class Depth:
    level = 0


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0059",))
def bad(x):
    y = x * 2
    Depth.level = 1  # BRK525
    return y + 1


@rule.becomes
def good(x):
    y = x * 2
    return y + 1
