"""`model.compile()` of a module whose `forward` stands in torch compiles nothing.

The method of nn.Module compiles the module's call. Dynamo skips what stands in torch.nn, the call
itself and the `forward` of `nn.Sequential`, `nn.Linear` or `nn.TransformerEncoder`, so no graph is
made, and no message says so. In a module of your own the call is skipped as well, but your
`forward` is then compiled by itself, also where an `nn.Sequential` holds the module.

Write `torch.compile(model)`, which puts a function of its own around the call, or put the layers
into a module with a `forward` of your own.
"""

import torch

from breakscope.rulekit.rule import Rule
from breakscope.rulekit.usage import Wrap

rule = Rule("BRK829", "compile-of-torch-module-in-place", kind="usage", severity="warning")

SEQUENTIAL = "torch.nn.Sequential"


@rule.on(Wrap, name="Module.compile")
def check(event):
    name = event.module_of_torch
    if name:
        compiled = "nothing but modules of your own inside it" if name == SEQUENTIAL else "nothing"
        yield event.problem(
            f"`{event.subject}` is a module of torch's own: Dynamo skips its call, so `.compile()` compiles {compiled}",
            help=f"take what `torch.compile({event.subject})` returns",
        )


@rule.program(shows={"graphs": 0}, instead={"graphs": 1})
def bad():
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())
    model.compile(backend="eager")  # BRK829
    return model(torch.ones(2, 4)).shape


@rule.becomes
def good():
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())
    model = torch.compile(model, backend="eager")
    return model(torch.ones(2, 4)).shape
