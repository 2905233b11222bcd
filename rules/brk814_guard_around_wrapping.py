"""A `try` around `torch.compile` catches no failure to compile: that comes with the first call.

`torch.compile` only wraps; it compiles when the result is called. A broad handler around the
wrapping alone never sees an error of the compiler. What it would catch are mistakes in the call
itself and an unsupported platform.

Put a first call under the `try`, with inputs of the real shapes. Handlers around the calls, and
handlers that raise again, are not flagged.
"""

import torch

from breakscope.rulekit.rule import Rule
from breakscope.rulekit.usage import Wrap

rule = Rule("BRK814", "guard-around-wrapping", kind="usage", severity="info")


@rule.on(Wrap, name=("torch.compile", "Module.compile"))
def check(event):
    if event.ignored:
        yield event.problem(
            f"this `try` sees no failure to compile `{event.subject}`: that comes with the first call",
            help="make a first call under the `try`, or drop the `try`",
        )


def broken(graph, inputs):
    raise ValueError("a mistake in the backend")


@rule.program(shows={"error": "a mistake in the backend"}, instead={"error": ""})
def bad():
    model = torch.nn.Linear(4, 4)
    try:
        step = torch.compile(model, backend=broken)  # BRK814
    except Exception:
        step = model
    return step(torch.ones(2, 4))


@rule.becomes
def good():
    model, x = torch.nn.Linear(4, 4), torch.ones(2, 4)
    try:
        step = torch.compile(model, backend=broken)
        step(x)
    except Exception as problem:
        print("not compiled:", problem)
        step = model
    return step(x)
