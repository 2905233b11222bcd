"""`torch.compile` does not know this mode.

Modes are "default", "reduce-overhead", "max-autotune" and "max-autotune-no-cudagraphs" (newer torch
versions have more). Another word raises a RuntimeError at once, also a mode written with
underscores.

A mode is a set of options of Inductor; other backends do not look at it, so their modes are not
checked.
"""

import torch

from breakscope.rulekit.rule import Rule
from breakscope.rulekit.usage import Wrap

MODES = ("default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs", "lite")

rule = Rule("BRK809", "unknown-mode", kind="usage", severity="error")


@rule.on(Wrap, name=("torch.compile", "Module.compile"))
def check(event):
    mode = event.setting("mode")
    if isinstance(mode, str) and mode not in MODES and event.uses_inductor and not event.checked:
        near = mode.lower().replace("_", "-")
        yield event.problem(
            f"`torch.compile` knows no mode {mode!r}: this call raises",
            help=f"write mode={near!r}"
            if near in MODES
            else f"write one of {', '.join(MODES[:4])}",
        )


@rule.program(shows={"error": "Unrecognized mode"}, instead={"error": ""})
def bad():
    model = torch.nn.Linear(4, 4)
    return type(torch.compile(model, mode="reduce_overhead"))  # BRK809


@rule.becomes
def good():
    model = torch.nn.Linear(4, 4)
    return type(torch.compile(model, mode="reduce-overhead"))
