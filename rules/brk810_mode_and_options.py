"""`torch.compile` gets both `mode` and `options`, which it refuses.

A mode is a set of options of Inductor under one name. Together they could contradict each other, so
`torch.compile` raises a RuntimeError at once.

Write the mode's options out: `torch._inductor.list_mode_options()` returns what each mode stands for.
Then add your own.
"""

import torch

from breakscope.rulekit.rule import Rule
from breakscope.rulekit.usage import Wrap

rule = Rule("BRK810", "mode-and-options", kind="usage", severity="error")


@rule.on(Wrap, name=("torch.compile", "Module.compile"))
def check(event):
    given = [event.settings.get(name) for name in ("mode", "options")]
    if (
        all(value is not None and not value.is_none and not value.is_unknown for value in given)
        and not event.checked
    ):
        yield event.problem(
            "`torch.compile` takes either `mode` or `options`: this call raises",
            help="leave `mode` out and write what it stands for into `options`",
        )


@rule.program(shows={"error": "Either mode or options"}, instead={"error": ""})
def bad():
    model = torch.nn.Linear(4, 4)
    options = {"epilogue_fusion": False}
    return type(torch.compile(model, mode="max-autotune", options=options))  # BRK810


@rule.becomes
def good():
    model = torch.nn.Linear(4, 4)
    return type(torch.compile(model, options={"max_autotune": True, "epilogue_fusion": False}))
