"""An object that the region makes and returns holds a function that Dynamo cannot name.

What a region returns, its bytecode makes anew behind the graph: an object by its class and its
attributes. A function it can only name where it found it: in a module, in an argument, in an
attribute of a module. The default of a constructor's parameter (`def __init__(self, q, shown=lambda
x: x)`) and a method of the object itself (`self.step = self._step`) have no such place, so the
function that returns the object is skipped as a whole (GB0092). The object may stay inside of the
region, and so may one whose function the caller passes.

Let the default be None and choose the function in the constructor's body, look the method up where it
is called, or return the tensors and make the object outside of the region.
"""

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule("BRK585", "returned-function", dynamo=("GB0092: User(Function|Method)Variable",))


@rule.on(Call, "return of an object with a function")
def check(event):
    cls = event.receiver.cls.info.name
    function = event.kwargs["attribute"]
    if function.bound is not None:
        held, help = (
            f"its own method `{function.info.name}`",
            "look the method up where it is called",
        )
    else:
        held = "a function that a default of its constructor gives"
        help = "let the default be None, and choose the function in the constructor's body"
    yield event.problem(
        f"`{event.shown}` hands out an object of `{cls}` made inside, which holds {held}; Dynamo cannot make that anew, "
        "so the whole function is skipped",
        help=help,
        skips="call",
    )


class Values:
    def __init__(self, q, shown=lambda q: q):
        self.q = q
        self.shown = shown


class Scores:
    def __init__(self, q, shown=None):
        self.q = q
        self.shown = str if shown is None else shown


class Step:
    def __init__(self, q):
        self.q = q
        self.run = self.doubled

    def doubled(self):
        return self.q * 2


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0092",), equal=False)
def bad(x):
    return Values(x * 2)  # BRK585


@rule.becomes
def good(x):
    return Scores(x * 2)


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0092",), equal=False)
def bad(x):
    return [x, Step(x * 2)]  # BRK585


@rule.becomes
def good(x):
    return [x, x * 2]
