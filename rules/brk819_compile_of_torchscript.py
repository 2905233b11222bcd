"""A TorchScript module is given to `torch.compile`, which refuses it or leaves it as it is.

A module from `torch.jit.script` or `torch.jit.freeze` raises a RuntimeError at once. A module from
`torch.jit.trace` is accepted, and then called as it is: Dynamo cannot look into it, so nothing is
compiled (torch 2.13).

Give the original module to `torch.compile`. TorchScript and `torch.compile` are two ways to the
same end; where TorchScript is needed for export, export and compile separately.
"""

import torch

from breakscope.rulekit.rule import Rule
from breakscope.rulekit.usage import Wrap, Wrapped

rule = Rule("BRK819", "compile-of-torchscript", kind="usage", severity="error")


@rule.on(Wrap, name="torch.compile")
def check(event):
    made = event.target
    if isinstance(made, Wrapped) and not made.is_compiled and made.is_module and not event.checked:
        traced = made.name == "torch.jit.trace"
        yield event.problem(
            f"`{event.subject}` comes from `{made.name}`: "
            + (
                "Dynamo cannot look into it, so nothing is compiled"
                if traced
                else "`torch.compile` refuses it"
            ),
            help="give the original module to `torch.compile`",
        )


@rule.program(shows={"error": "does not support compiling torch.jit.script"}, instead={"error": ""})
def bad():
    model = torch.jit.script(torch.nn.Linear(4, 4))
    return torch.compile(model, backend="eager")(torch.ones(2, 4))  # BRK819


@rule.becomes
def good():
    model = torch.nn.Linear(4, 4)
    return torch.compile(model, backend="eager")(torch.ones(2, 4))


@rule.program(shows={"graphs": 0}, instead={"graphs": 1})
def bad_traced():
    model = torch.jit.trace(torch.nn.Linear(4, 4), torch.ones(2, 4))
    torch.compile(model, backend="eager")(torch.ones(2, 4))  # BRK819


@rule.becomes
def good_traced():
    model = torch.nn.Linear(4, 4)
    torch.compile(model, backend="eager")(torch.ones(2, 4))
