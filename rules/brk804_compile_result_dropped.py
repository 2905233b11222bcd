"""The result of `torch.compile(model)` is dropped, so nothing is compiled.

`torch.compile` gives back a wrapper and leaves the model as it is. A call whose result nobody takes
does nothing: the model is not compiled, and no message says so.

Take the result (`model = torch.compile(model)`), or compile a module of your own class in place with
`model.compile()`, which keeps the names in its `state_dict` and its type.
"""

import torch

from breakscope.rulekit.rule import Rule
from breakscope.rulekit.usage import Wrap

rule = Rule("BRK804", "compile-result-dropped", kind="usage", severity="error")


@rule.on(Wrap, name="torch.compile", result="dropped")
def check(event):
    if not event.ignored and not event.checked:
        in_place = f", or for a module write `{event.subject}.compile()`, which works in place"
        yield event.problem(
            f"the result of `torch.compile({event.subject})` is dropped, so `{event.subject}` stays eager",
            # which compiles nothing of a module of torch's own
            help="take the result" + ("" if event.module_of_torch else in_place),
        )


@rule.program(shows={"graphs": 0}, instead={"graphs": 1})
def bad():
    model = torch.nn.Linear(4, 4)
    torch.compile(model, backend="eager")  # BRK804
    model(torch.ones(2, 4))


@rule.becomes
def good():
    model = torch.nn.Linear(4, 4)
    model = torch.compile(model, backend="eager")
    model(torch.ones(2, 4))
