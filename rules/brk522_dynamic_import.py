"""Importing by a computed name inside the region ends the graph.

`importlib.import_module(name)` and `__import__(name)` run the import machinery, which Dynamo skips.
A plain `import x` statement inside a function is traced when the module is there.

Import at the module's top, or resolve the name in `__init__` and keep the function.
"""

import importlib

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule("BRK522", "dynamic-import", dynamo=("GB0007: import_module|__import__",))


@rule.on(Call, "importlib.import_module", "importlib.reload", "__import__", "builtins.__import__")
def check(event):
    yield event.graph_break(
        f"`{event.shown}` imports while the model runs",
        help="import at the module's top, or resolve the name in `__init__`",
    )


@rule.example(lambda: (torch.ones(4),))
def bad(x):
    functional = importlib.import_module("torch.nn.functional")  # BRK522
    return functional.relu(x)


@rule.becomes
def good(x):
    functional = torch.nn.functional
    return functional.relu(x)
