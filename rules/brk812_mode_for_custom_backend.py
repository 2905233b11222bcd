"""A backend of one's own is given a `mode` or `options`, which it does not take.

Both are handed to the backend as keyword arguments. A function `backend(graph, inputs)` has no
place for them, so the first call raises (BackendCompilerFailed around a TypeError).

Leave them out, or give the backend a parameter for them: `def backend(graph, inputs, mode=None)`.
"""

import torch

from breakscope.rulekit.rule import Rule
from breakscope.rulekit.usage import Wrap

rule = Rule("BRK812", "mode-for-custom-backend", kind="usage", severity="error")


@rule.on(Wrap, name=("torch.compile", "Module.compile"))
def check(event):
    if event.backend_parameters is None:
        return
    for name in ("mode", "options"):
        value = event.settings.get(name)
        if (
            value is not None
            and not value.is_none
            and name not in event.backend_parameters
            and not event.checked
        ):
            yield event.problem(
                f"the backend takes no `{name}`, so the first call raises",
                help=f"leave `{name}` out: it is for the backend, and this one has no such parameter",
            )


@rule.program(shows={"error": "BackendCompilerFailed"}, instead={"error": ""})
def bad():
    def backend(graph, inputs):
        return graph.forward

    model = torch.compile(torch.nn.Linear(4, 4), backend=backend, mode="max-autotune")  # BRK812
    return model(torch.ones(2, 4))


@rule.becomes
def good():
    def backend(graph, inputs):
        return graph.forward

    model = torch.compile(torch.nn.Linear(4, 4), backend=backend)
    return model(torch.ones(2, 4))
