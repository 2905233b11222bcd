"""Giving a lazy parameter its shape inside the region ends the graph.

`UninitializedParameter.materialize(shape)` makes an ordinary parameter of the object by setting its
`__class__`, which Dynamo does not trace. It happens where a module of your own learns its sizes from the
first input, in `forward` or in a hook. Torch's lazy layers (`nn.LazyLinear`, and what derives from
`LazyModuleMixin`) do it before Dynamo comes to them.

Call the model once before it is compiled, or derive from `torch.nn.modules.lazy.LazyModuleMixin` and
materialize in `initialize_parameters`.
"""

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule("BRK578", "materialize-in-region", dynamo=("GB4271",))

LAZY = {
    f"{module}.Uninitialized{kind}.materialize"
    for module in ("torch.nn", "torch.nn.parameter")
    for kind in ("Parameter", "Buffer")
}


@rule.on(Call, LAZY)
def check(event):
    yield event.graph_break(
        f"`{event.shown}` gives a lazy parameter its shape while the model runs",
        help="call the model once before it is compiled, or derive from `nn.modules.lazy.LazyModuleMixin`",
    )


@rule.example(lambda: (torch.ones(2, 4),), module=True, equal=False)
def bad():
    class Scale(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.UninitializedParameter()

        def forward(self, x):
            if isinstance(self.weight, torch.nn.UninitializedParameter):
                self.weight.materialize((x.size(-1),))  # BRK578
            return x + 1

    return Scale()


@rule.becomes
def good():
    class Scale(torch.nn.modules.lazy.LazyModuleMixin, torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.UninitializedParameter()

        def initialize_parameters(self, x):
            self.weight.materialize((x.size(-1),))

        def forward(self, x):
            return x + 1

    return Scale()
