"""A compiled module is used through another method than its call, which is not compiled.

`torch.compile(model)` compiles the module's call. `compiled.encode(x)` finds `encode` on the
original model, where `self` is that model: it runs in plain Python, and so does every `self(x)` in
it. No message says so. After `model.compile()` it is the other way round: `self(x)` in a method is
compiled, and a direct `model.forward(x)` is not.

Compile the method (`model.encode = torch.compile(model.encode)`), or use `model.compile()` where
the method's work is done in `self(x)`; call the module itself and not `forward`.
"""

import torch

from breakscope.rulekit.rule import Rule
from breakscope.rulekit.usage import COMPILE, Use

rule = Rule("BRK821", "method-not-compiled", kind="usage", severity="warning")


@rule.on(Use)
def check(event):
    name = event.name
    if event.value.name == COMPILE and event.computes and name != "forward":
        yield event.problem(
            f"`torch.compile` compiles the call of `{event.subject}` only: `{event.subject}.{name}(...)` is not compiled",
            help=f"compile the method, too: `model.{name} = torch.compile(model.{name})`",
            certainty="likely",
        )
    if event.value.name != COMPILE and name == "forward":
        yield event.problem(
            f"`{event.subject}` is compiled in place; `{event.subject}.forward(...)` goes around that and is not compiled",
            help=f"write `{event.subject}(...)`",
        )


class Coder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def encode(self, x):
        return self.linear(x).relu()

    def forward(self, x):
        return self.encode(x)


@rule.program(shows={"graphs": 0}, instead={"graphs": 1})
def bad():
    model = torch.compile(Coder(), backend="eager")
    model.encode(torch.ones(2, 4))  # BRK821


@rule.becomes
def good():
    model = Coder()
    model.encode = torch.compile(model.encode, backend="eager")
    model.encode(torch.ones(2, 4))


@rule.program(shows={"graphs": 0}, instead={"graphs": 1})
def bad_forward():
    model = Coder()
    model.compile(backend="eager")
    model.forward(torch.ones(2, 4))  # BRK821


@rule.becomes
def good_forward():
    model = Coder()
    model.compile(backend="eager")
    model(torch.ones(2, 4))
