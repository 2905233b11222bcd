"""A backend is made anew in every pass of a loop, so the model is compiled anew in every pass.

Dynamo finds compiled code by the backend that made it. A lambda or a function defined inside the
loop is another backend each time: nothing is found, everything is compiled again, and behind
`torch._dynamo.config.recompile_limit` (8) the model is skipped without a word. Backends given by
name ("inductor") are the same backend each time.

Define the backend once, outside of the loop, and wrap the model there, too.
"""

import torch

from breakscope.rulekit.rule import Rule
from breakscope.rulekit.usage import Wrap

rule = Rule("BRK803", "backend-made-in-loop", kind="usage", severity="error")


@rule.on(Wrap, name="torch.compile")
def check(event):
    if event.new_backend:
        yield event.problem(
            f"`{event.new_backend}` is a new backend in every pass, so `{event.subject}` is compiled again each time",
            help="define the backend and wrap the model once, before the loop",
        )


@rule.program(shows={"graphs": 4}, instead={"graphs": 1})
def bad():
    model = torch.nn.Linear(4, 4)
    for _ in range(4):
        step = torch.compile(model, backend=lambda graph, inputs: graph.forward)  # BRK803
        step(torch.ones(2, 4))


@rule.becomes
def good():
    model = torch.nn.Linear(4, 4)
    step = torch.compile(model, backend=lambda graph, inputs: graph.forward)
    for _ in range(4):
        step(torch.ones(2, 4))
