"""Importing by a computed name inside the region ends the graph.

`importlib.import_module(name)` and `__import__(name)` run the import machinery, which Dynamo skips.
A plain `import x` statement inside a function is traced when the module is there.

Import at the module's top, or resolve the name in `__init__` and keep the function; so does the
rewrite. It is unsafe, since an import that fails then fails earlier.
"""

import importlib

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule("BRK522", "dynamic-import", dynamo=("GB0007: import_module|__import__",), fix="unsafe")


@rule.on(Call, "importlib.import_module", "importlib.reload", "__import__", "builtins.__import__")
def check(event):
    yield event.graph_break(
        f"`{event.shown}` imports while the model runs",
        help="import at the module's top, or resolve the name in `__init__`",
    )


@rule.rewrite
def rewrite(node, problem, place):
    from breakscope.rulekit import rewriting as rw
    from breakscope.rulekit.rewrites.hoisting import asked_once

    found = rw.find(node, problem)
    if found is None or rw.called(found) == "reload":
        return None
    return asked_once(node, found, place, "imported")


@rule.example(lambda: (torch.ones(4),), module=True)
def bad():
    class Activation(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.place = "torch.nn.functional"

        def forward(self, x):
            functional = importlib.import_module(self.place)  # BRK522
            return functional.relu(x)

    return Activation()


@rule.becomes
def good():
    class Activation(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.place = "torch.nn.functional"
            self.imported = importlib.import_module(self.place)

        def forward(self, x):
            functional = self.imported
            return functional.relu(x)

    return Activation()
