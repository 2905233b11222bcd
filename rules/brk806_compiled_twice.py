"""Something that `torch.compile` has wrapped already is wrapped again.

The outer wrapper takes the place of the inner one: the settings of the inner (`fullgraph`, `mode`,
`backend`, `dynamic`) counts for nothing. And around a compiled module the second wrapper is a plain
function, without `parameters()`, `state_dict()`, `train()` or `to()` (torch 2.13).

Wrap once, with all settings. Where a part of a model is to have settings of its own, compile the
part and not the whole.
"""

import torch

from breakscope.rulekit.rule import Rule
from breakscope.rulekit.usage import COMPILE, Wrap, Wrapped

rule = Rule("BRK806", "compiled-twice", kind="usage", severity="warning")


@rule.on(Wrap, name="torch.compile")
def check(event):
    inner = event.target
    if not isinstance(inner, Wrapped) or inner.name != COMPILE:
        return
    if inner.is_module:
        yield event.problem(
            f"`{event.subject}` is compiled already: the result is a plain function, no module",
            help="wrap it once, with all settings in that call",
        )
    elif set(inner.settings) - {"backend"}:
        settings = ", ".join(f"`{name}`" for name in inner.settings)
        yield event.problem(
            f"`{event.subject}` is compiled already: its {settings} no longer counts",
            help="wrap it once, with all settings in that call",
        )


@rule.program(shows={"returns": False}, instead={"returns": True})
def bad():
    model = torch.compile(torch.nn.Linear(4, 4), backend="eager")
    model = torch.compile(model, backend="eager")  # BRK806
    return hasattr(model, "parameters")


@rule.becomes
def good():
    model = torch.compile(torch.nn.Linear(4, 4), backend="eager")
    return hasattr(model, "parameters")


@rule.program(shows={"error": ""}, instead={"error": "Unsupported"})
def bad_settings():
    @torch.compile(backend="eager", fullgraph=True)
    def scale(x):
        torch._dynamo.graph_break()  # BRK502
        return x * 2

    return torch.compile(scale, backend="eager")(torch.ones(4))  # BRK806


@rule.becomes
def good_settings():
    @torch.compile(backend="eager", fullgraph=True)
    def scale(x):
        torch._dynamo.graph_break()  # BRK502
        return x * 2

    return scale(torch.ones(4))
