"""`hasattr(super(), ...)` and `getattr(super(), ..., default)` end the graph.

Dynamo calls a parent's method through `super()`, but does not answer whether there is one. Classes
that are meant to be mixed with others ask that, because a parent may or may not have the method; so
the graph ends at each of them, once for each call.

Give the outermost parent an empty method, which every class may then call without asking. Or decide
once, where the object is made, and keep the answer in an attribute.
"""

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule("BRK559", "ask-super", dynamo=("GB0150: SuperVariable",))


@rule.on(Call, "super().__hasattr__")
def check(event):
    yield event.graph_break(
        f"`{event.shown}` asks `super()` whether it has an attribute, which Dynamo does not answer",
        help="give the outermost parent an empty method, and call it without asking",
    )


class Base(torch.nn.Module):
    def prepare(self, x):
        return x * 2


class Plain(torch.nn.Module):
    pass


@rule.example(lambda: (torch.ones(4),), module=True, dynamo=("GB0150",))
def bad():
    class Shifted(Base):
        def forward(self, x):
            if hasattr(super(), "prepare"):  # BRK559
                x = super().prepare(x)
            return x + 1

    return Shifted()


@rule.becomes
def good():
    class Shifted(Base):
        def forward(self, x):
            x = super().prepare(x)
            return x + 1

    return Shifted()


@rule.example(lambda: (torch.ones(4),), module=True, dynamo=("GB0150",))
def bad_default():
    class Shifted(Plain):
        def forward(self, x):
            prepare = getattr(super(), "prepare", None)  # BRK559
            return x + 1 if prepare is None else prepare(x) + 1

    return Shifted()


@rule.becomes
def good_default():
    class Prepared(torch.nn.Module):
        def prepare(self, x):
            return x

    class Shifted(Prepared):
        def forward(self, x):
            return super().prepare(x) + 1

    return Shifted()
