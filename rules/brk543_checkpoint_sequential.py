"""`checkpoint_sequential` ends the graph.

`torch.utils.checkpoint.checkpoint` is traced, as a subgraph that the backward pass computes again.
Its relative `checkpoint_sequential(modules, segments, x)` is on the list of functions that Dynamo
skips: the graph ends there, and what it calls is not compiled.

Call `checkpoint` for each segment: `for part in self.parts: x = checkpoint(part, x,
use_reentrant=False)`, with `self.parts` a list of `nn.Sequential` made in `__init__`.
"""

import torch
from torch.utils.checkpoint import checkpoint, checkpoint_sequential

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule("BRK543", "checkpoint-sequential", dynamo=("GB0007: checkpoint_sequential",))


@rule.on(Call, "torch.utils.checkpoint.checkpoint_sequential")
def check(event):
    yield event.problem(
        f"Dynamo skips `checkpoint_sequential`, so the graph ends at `{event.shown}`",
        help="call `checkpoint(part, x, use_reentrant=False)` for each segment",
    )


@rule.example(lambda: (torch.ones(2, 4),), lambda: (torch.full((2, 4), torch.nan),), module=True)
def bad():
    layers = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU(), torch.nn.Linear(4, 4))

    def forward(x):
        h = x + 1
        return checkpoint_sequential(layers, 2, h, use_reentrant=False)  # BRK543

    return forward


@rule.becomes
def good():
    layers = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU(), torch.nn.Linear(4, 4))
    parts = torch.nn.ModuleList([layers[:1], layers[1:]])

    def forward(x):
        h = x + 1
        for part in parts:
            h = checkpoint(part, h, use_reentrant=False)
        return h

    return forward
