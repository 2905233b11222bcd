"""The same model is wrapped by `torch.compile` in every pass of a loop.

`torch.compile` does not remember what it has wrapped: each call makes a new wrapper, sets up a
backend and looks the compiled code up again. The code itself is found and not compiled anew, so
nothing looks wrong; but each pass pays for a wrapper that takes many times what the call of a small
compiled model takes (torch 2.13, a linear layer on CPU: 0.36 ms instead of 0.03 ms).

Wrap once, before the loop, and call the result inside. Wrapping each of several models or layers in
a loop is fine and not flagged.
"""

import torch

from breakscope.rulekit.rule import Rule
from breakscope.rulekit.usage import Wrap

rule = Rule("BRK801", "compile-in-loop", kind="usage", severity="warning")


@rule.on(Wrap, name="torch.compile", repeats="loop")
def check(event):
    if not event.new_backend and event.result != "dropped":
        yield event.problem(
            f"`torch.compile` wraps `{event.subject}` again in every pass of the loop",
            help="wrap it once before the loop, and call the result inside",
        )


@rule.program(shows={"returns": 4}, instead={"returns": 1})
def bad():
    model, wrappers = torch.nn.Linear(4, 4), []
    for _ in range(4):
        step = torch.compile(model, backend="eager")  # BRK801
        step(torch.ones(2, 4))
        wrappers.append(step)
    return len(set(wrappers))


@rule.becomes
def good():
    model, wrappers = torch.nn.Linear(4, 4), []
    step = torch.compile(model, backend="eager")
    for _ in range(4):
        step(torch.ones(2, 4))
        wrappers.append(step)
    return len(set(wrappers))
