"""A method of an object made in the same function breaks the graph, and the whole function is skipped.

`clock = Clock(); clock.start()`, where `start` reads the time: to stop in the middle of the call,
Dynamo must put the bound method `clock.start` on Python's stack. The object exists only in the
graph's plan so far, and torch has no way to write down a method of such an object. It reports
GB0092 for the call, beside the break inside, and skips the whole function.

So it is with a method that a subclass of `torch.Tensor` has of its own, wherever the tensor was made:
Dynamo knows the class of a tensor in the graph, and no name for a method of it.

Fix the break inside, and this one goes with it. Where that cannot be, make the object outside of
the region (in `__init__`, or as an argument), or write the helper as a function: then Dynamo stops
at the call and goes on behind it.
"""

import time

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule(
    "BRK558",
    "method-of-object-made-inside",
    dynamo=("GB0092: UserMethodVariable",),
    shares=("GB0007",),
)


@rule.on(Call, "method of an object made here")
def check(event):
    function = event.receiver.info
    yield event.problem(
        f"`{event.shown}` breaks inside, on an object that this function made, so the function is skipped as a whole",
        help=f"fix the break in `{function.name}`, or make the object outside of the compiled region",
        certainty="likely",
        skips="object",
    )


@rule.on(Call, "method of a tensor class")
def check_tensor(event):
    function = event.receiver.info
    yield event.problem(
        f"`{event.shown}` breaks inside, in a method of a tensor's own class, so the function is skipped as a whole",
        help=f"fix the break in `{function.name}`, or write it as a function",
        certainty="likely",
        skips="object",
    )


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0007", "GB0092"), module=True)
def bad():
    class Clock:
        def start(self):
            self.began = time.time()  # BRK404

    def forward(x):
        clock = Clock()
        clock.start()  # BRK558
        return x * 2

    return forward


@rule.becomes
def good():
    class Clock:
        def start(self):
            self.began = 0.0

    def forward(x):
        clock = Clock()
        clock.start()
        return x * 2

    return forward
