"""A function that runs in every step wraps the same model by `torch.compile` each time.

`torch.compile` does not remember what it has wrapped: each call makes a new wrapper, sets up a
backend and looks the compiled code up again. In a training step, or in a module's `forward`, that
is paid in every step (torch 2.13, a linear layer on CPU: 0.36 ms instead of 0.03 ms).

Wrap once, where the model is made, and hand the result to the function; in a module wrap in
`__init__`. A function that returns or stores what it wrapped is not flagged, nor one that wraps
under an `if`.
"""

import torch

from breakscope.rulekit.rule import Rule
from breakscope.rulekit.usage import Wrap

rule = Rule("BRK802", "compile-in-step", kind="usage", severity="warning")


@rule.on(Wrap, name="torch.compile", repeats="step")
def check(event):
    if event.result != "dropped":
        yield event.problem(
            f"`torch.compile` wraps `{event.subject}` again in every call of `{event.function.split('.')[-1]}`",
            help="wrap it once, where it is made, and use the result here",
        )


@rule.program(shows={"returns": 4}, instead={"returns": 1})
def bad():
    model, made = torch.nn.Linear(4, 4), set()

    def step(network, x):
        compiled = torch.compile(network, backend="eager")  # BRK802
        made.add(compiled)
        return compiled(x)

    for _ in range(4):
        step(model, torch.ones(2, 4))
    return len(made)


@rule.becomes
def good():
    model, made = torch.compile(torch.nn.Linear(4, 4), backend="eager"), set()

    def step(network, x):
        made.add(network)
        return network(x)

    for _ in range(4):
        step(model, torch.ones(2, 4))
    return len(made)
