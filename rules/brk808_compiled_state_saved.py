"""The `state_dict` of a compiled module is saved: every key begins with a prefix of the wrapper.

`torch.compile(model)` is a module around the model, so its keys are those of the model behind the
name under which the wrapper holds it. The file loads into a module that is compiled in the same
way, and into nothing else: not into the plain model, not elsewhere, not under another wrapper.

Save the states of the plain model: keep a name for it beside the compiled one, or compile in place
with `model.compile()`, which changes no names. A file that deals with the prefix is not flagged.
"""

import io

import torch

from breakscope.rulekit.rule import Rule
from breakscope.rulekit.usage import Use

rule = Rule("BRK808", "compiled-state-saved", kind="usage", severity="warning")


@rule.on(Use, name="torch.save")
def check(event):
    yield event.problem(
        f"`{event.subject}` is compiled: the saved keys get the prefix of its wrapper and fit no plain model",
        help="save the states of the plain model, or compile a model of your own class in place with `.compile()`",
    )


@rule.program(shows={"returns": 2}, instead={"returns": 0})
def bad():
    model = torch.compile(torch.nn.Linear(4, 4), backend="eager")
    model(torch.ones(2, 4))
    file = io.BytesIO()
    torch.save({"epoch": 3, "model": model.state_dict()}, file)  # BRK808
    file.seek(0)
    return len(torch.load(file)["model"].keys() - {"weight", "bias"})


@rule.becomes
def good():
    model = torch.nn.Linear(4, 4)
    compiled = torch.compile(model, backend="eager")
    compiled(torch.ones(2, 4))
    file = io.BytesIO()
    torch.save({"epoch": 3, "model": model.state_dict()}, file)
    file.seek(0)
    return len(torch.load(file)["model"].keys() - {"weight", "bias"})
