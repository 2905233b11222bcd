"""`maxlen` of a deque that a compiled function is given is None while Dynamo traces.

Dynamo rebuilds a deque of an argument, a global name or an attribute without its limit. What asks for the
limit gets None: `history.maxlen is None` is true, and `history.maxlen == 4` false, without a message, so that the
result is another one than without `torch.compile`. `len(history) < history.maxlen` leaves the whole function to
Python, and a tensor times the limit is an error in compiling. A deque that the function makes itself has its limit.

Keep the limit as a number of your own beside the deque, and read that.
"""

import collections

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule("BRK830", "limit-of-deque", kind="usage", severity="error")


@rule.on(Call, "maxlen of a deque that is given")
def check(event):
    yield event.problem(
        f"`{event.shown}` is None while Dynamo traces, whatever the limit of the deque is, so the compiled code goes "
        "another way, or does not compile",
        help="keep the limit as an int beside the deque, and read that",
    )


@rule.program(shows={"returns": 0.0}, instead={"returns": 0.5})
def bad():
    history = collections.deque([1.0, 2.0], maxlen=4)

    @torch.compile(backend="eager")
    def share(x):
        if history.maxlen is None:  # BRK830
            return x * 0
        return x * len(history) / 4

    return float(share(torch.ones(())))


@rule.becomes
def good():
    limit = 4
    history = collections.deque([1.0, 2.0], maxlen=limit)

    @torch.compile(backend="eager")
    def share(x):
        if limit is None:
            return x * 0
        return x * len(history) / limit

    return float(share(torch.ones(())))


@rule.program(shows={"error": "TorchRuntimeError"}, instead={"error": ""})
def bad_attribute():
    class Window(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.seen = collections.deque([1.0, 2.0], maxlen=4)

        def forward(self, x):
            return x * len(self.seen) / self.seen.maxlen  # BRK830

    return float(torch.compile(Window(), backend="eager")(torch.ones(())))


@rule.becomes
def good_attribute():
    class Window(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.limit = 4
            self.seen = collections.deque([1.0, 2.0], maxlen=self.limit)

        def forward(self, x):
            return x * len(self.seen) / self.limit

    return float(torch.compile(Window(), backend="eager")(torch.ones(())))
