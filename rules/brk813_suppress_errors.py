"""`suppress_errors` hides that nothing is compiled.

With `torch._dynamo.config.suppress_errors = True` every failure while compiling, a mistake in the
backend included, ends in a silent return to eager Python: the program runs, as slow as before, and
the only trace is a warning in the log.

Leave it off, and keep what cannot be compiled out of the region with `torch.compiler.disable`. To
go on after a failure in production, catch it where you can count it.
"""

import torch

from breakscope.rulekit.rule import Rule
from breakscope.rulekit.usage import Configure

rule = Rule("BRK813", "suppress-errors", kind="usage", severity="warning")


@rule.on(Configure, name="torch._dynamo.config.suppress_errors")
def check(event):
    if event.value.is_const and event.value.value is True:
        yield event.problem(
            "with `suppress_errors` a failure to compile is silent, and the function is skipped",
            help="leave it off; exclude what cannot be compiled with `torch.compiler.disable`",
        )


def broken(graph, inputs):
    raise ValueError("a mistake in the backend")


@rule.program(shows={"error": ""}, instead={"error": "a mistake in the backend"})
def bad():
    before = torch._dynamo.config.suppress_errors
    torch._dynamo.config.suppress_errors = True  # BRK813
    try:
        return torch.compile(torch.nn.Linear(4, 4), backend=broken)(torch.ones(2, 4))
    finally:
        torch._dynamo.config.suppress_errors = before


@rule.becomes
def good():
    return torch.compile(torch.nn.Linear(4, 4), backend=broken)(torch.ones(2, 4))
