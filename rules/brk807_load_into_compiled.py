"""A checkpoint is loaded into a compiled module, whose keys all begin with `_orig_mod.`.

`torch.compile(model)` is a module around the model: in its `state_dict` each name has the prefix
`_orig_mod.`. A checkpoint of the plain model has none, so `load_state_dict` raises; with
`strict=False` it loads nothing, and says so only in what it returns.

Load before wrapping, or load into the plain model (the wrapper shares its parameters), or compile
a model whose class is your own in place with `model.compile()`, which changes no names. A file that
deals with the prefix, or that saves the compiled module's own states, is not flagged.
"""

import torch

from breakscope.rulekit.rule import Rule
from breakscope.rulekit.usage import Use

rule = Rule("BRK807", "load-into-compiled", kind="usage", severity="error")


@rule.on(Use, name="load_state_dict", saved=False)
def check(event):
    yield event.problem(
        f"`{event.subject}` is compiled: its keys have the prefix of the wrapper, those of a plain checkpoint do not",
        help="load before `torch.compile`, or compile a model of your own class in place with `.compile()`",
        certainty="likely",
    )


@rule.program(shows={"error": "Missing key"}, instead={"error": ""})
def bad():
    checkpoint = torch.nn.Linear(4, 4).state_dict()
    model = torch.nn.Linear(4, 4)
    model = torch.compile(model, backend="eager")
    model.load_state_dict(checkpoint)  # BRK807


@rule.becomes
def good():
    checkpoint = torch.nn.Linear(4, 4).state_dict()
    model = torch.nn.Linear(4, 4)
    model.load_state_dict(checkpoint)
    model = torch.compile(model, backend="eager")
    model(torch.ones(2, 4))


@rule.program(shows={"returns": 2}, instead={"returns": 0})
def bad_silent():
    checkpoint = torch.nn.Linear(4, 4).state_dict()
    model = torch.compile(torch.nn.Linear(4, 4), backend="eager")
    result = model.load_state_dict(checkpoint, strict=False)  # BRK807
    return len(result.missing_keys)


@rule.becomes
def good_silent():
    checkpoint = torch.nn.Linear(4, 4).state_dict()
    model = torch.nn.Linear(4, 4)
    result = model.load_state_dict(checkpoint, strict=False)
    model = torch.compile(model, backend="eager")
    return len(result.missing_keys)
