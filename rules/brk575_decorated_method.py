"""A decorated method of an object that the region has made ends the graph.

`@torch.no_grad()`, `@torch.autocast("cpu")`, and decorators of yours whose wrapper uses an object that was
handed to the decorator, keep that object in the closure of the method. Dynamo reads a closure by way of
the object that has the method; one that was made in the region itself is nowhere yet, and for a tensor, a
module, a logger, a context manager, or an object of a class of yours it needs a place to take it from
(GB0116). Where the method was called by its name, the whole function is skipped (GB0092). What is a number,
a text or a function is taken as it is, and so is what the wrapper finds by a global name.

Write `with torch.no_grad():` inside of the method, let the wrapper use a global variable, or make the
object outside of the region (in `__init__`, or as an argument).
"""

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule(
    "BRK575",
    "decorated-method",
    dynamo=("GB0116: SourcelessBuilder.create does not know how to wrap",),
    shares=("GB0092",),
)


@rule.on(Call, "decorated method of an object made inside")
def check(event):
    kept, by_name = (fact.value for fact in event.args)
    skips = "object" if by_name else ""  # Dynamo has no name to write the method down by
    if kept.startswith("torch."):
        given = "" if kept.endswith("_grad") else "..."
        yield event.problem(
            f"`{event.shown}` runs under `{kept}` by a decorator, on an object made in this region, for which Dynamo "
            "cannot take the decorator over, so the graph ends here",
            help=f"write `with {kept}({given}):` inside of the method, or make the object outside of the compiled region",
            fixable=False,
            skips=skips,
        )
    else:
        yield event.problem(
            f"`{event.shown}` is decorated, and on an object made in this region Dynamo cannot take over the object "
            f"`{kept}` that the decorator keeps, so the graph ends here",
            help=f"let the wrapper use a global `{kept}`, or make the object outside of the compiled region",
            fixable=False,
            skips=skips,
        )


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0116", "GB0092"), module=True)
def bad():
    class Scaled:
        def __init__(self, rate):
            self.rate = rate

        @torch.no_grad()
        def apply(self, x):
            return x * self.rate

    def forward(x):
        return Scaled(2).apply(x)  # BRK575

    return forward


@rule.becomes
def good():
    class Scaled:
        def __init__(self, rate):
            self.rate = rate

        def apply(self, x):
            with torch.no_grad():
                return x * self.rate

    def forward(x):
        return Scaled(2).apply(x)

    return forward


class Limits:
    most = 3.0


LIMITS = Limits()


def limited(limits):
    def decorate(method):
        def wrapper(self, x):
            return method(self, x).clamp(max=limits.most)

        return wrapper

    return decorate


def limited_by_default(method):
    def wrapper(self, x):
        return method(self, x).clamp(max=LIMITS.most)

    return wrapper


class Doubled:
    @limited(LIMITS)
    def apply(self, x):
        return x * 2


class DoubledByDefault:
    @limited_by_default
    def apply(self, x):
        return x * 2


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0116", "GB0092"))
def bad_wrapper(x):
    return Doubled().apply(x)  # BRK575


@rule.becomes
def good_wrapper(x):
    return DoubledByDefault().apply(x)
