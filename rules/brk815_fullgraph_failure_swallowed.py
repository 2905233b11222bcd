"""`fullgraph=True` makes a graph break an error, and a handler drops that error without a word.

`fullgraph=True` is there to fail loudly. Called under a `try` whose broad handler goes on with
something else and reports nothing, it hides what it was to show, and the model is not compiled from the
first break on.

Let it fail, or log the exception in the handler. A model that may break needs no `fullgraph=True`:
without it Dynamo keeps the graphs that it can make.
"""

import torch

from breakscope.rulekit.rule import Rule
from breakscope.rulekit.usage import Use

rule = Rule("BRK815", "fullgraph-failure-swallowed", kind="usage", severity="warning")


@rule.on(Use, name="()", swallowed=True)
def check(event):
    if event.value.setting("fullgraph") is True:
        yield event.problem(
            f"`{event.subject}` is compiled with `fullgraph=True`, and the handler around this call hides its failure",
            help="log the exception in the handler, or leave `fullgraph=True` out",
        )


@rule.program(shows={"graphs": 0}, instead={"graphs": 2})
def bad():
    def scale(x):
        x = x.sin()
        torch._dynamo.graph_break()  # BRK502
        return x * 2

    fast, x = torch.compile(scale, backend="eager", fullgraph=True), torch.ones(4)
    try:
        fast(x)  # BRK815
    except Exception:
        scale(x)


@rule.becomes
def good():
    def scale(x):
        x = x.sin()
        torch._dynamo.graph_break()  # BRK502
        return x * 2

    fast, x = torch.compile(scale, backend="eager"), torch.ones(4)
    fast(x)
