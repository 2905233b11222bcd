"""Setting `.data` of a parameter to a tensor of another type ends the graph.

`self.bias.data = self.bias.data.half()` gives a parameter, a buffer or an input a memory with other elements.
Dynamo replays a store to `.data` only where the type stays (`torch._dynamo` reports GB0220); so does what
converts a parameter on demand: `if self.bias.dtype != x.dtype: self.bias.data = self.bias.data.to(x.dtype)`.

Convert what you compute with, and leave the parameter as it is: `bias = self.bias.to(x.dtype)`. To convert the
model itself, call `model.half()` or `model.to(dtype)` once, outside of the region.
"""

import ast

import torch

from breakscope.rulekit.events import CHOSEN, Store
from breakscope.rulekit.rule import Rule

rule = Rule("BRK581", "data-of-other-type", dynamo=("GB0220",))

# what tensors are seldom of before: each also as a method
OTHERS = frozenset(
    "half float16 bfloat16 double float64 short char byte int8 uint8 int16 cfloat cdouble".split()
)
CONVERTS = frozenset({"to", "type"})


@rule.on(Store, scope="tensor", name="data")
def check(event):
    tensor = event.initial
    value = event.node.value if isinstance(event.node, ast.Assign) else None
    if tensor.is_computed and tensor.kind not in ("parameter", "buffer"):
        return
    kind = _kind_of_conversion(value)
    # where nothing asks for the type it mostly is the same
    if kind == "other" or (kind == "asked for" and event.undecided == CHOSEN):
        yield event.graph_break(
            f"`{event.owner}.data` is set to a tensor of another type",
            help=f"convert what is computed with, as `{ast.unparse(value).replace('.data.', '.')}`, and leave "
            f"`{event.owner}` as it is",
            certainty="likely",
        )


def _kind_of_conversion(value) -> str:
    """ "other" for `y.half()` and `y.to(torch.float16)`, "asked for" for `y.to(x.dtype)`, else ""."""
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute):
        return ""
    name = value.func.attr
    if name in OTHERS:
        return "other"
    if name == "type_as":
        return "asked for"
    if name not in CONVERTS:
        return ""
    wanted = {
        getattr(given, "attr", "") for given in (*value.args, *(k.value for k in value.keywords))
    }
    return "other" if wanted & OTHERS else "asked for" if "dtype" in wanted else ""


@rule.example(lambda: (torch.ones(4),), module=True)
def bad():
    class Shift(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.bias = torch.nn.Parameter(torch.ones(4))

        def forward(self, x):
            self.bias.data = self.bias.data.double()  # BRK581
            return x + self.bias

    return Shift()


@rule.becomes
def good():
    class Shift(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.bias = torch.nn.Parameter(torch.ones(4))

        def forward(self, x):
            bias = self.bias.double()
            return x + bias

    return Shift()


@rule.example(lambda: (torch.ones(4, dtype=torch.float64),), module=True)
def bad_on_demand():
    class Shift(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.bias = torch.nn.Parameter(torch.ones(4))

        def forward(self, x):
            if self.bias.dtype != x.dtype:
                self.bias.data = self.bias.data.to(x.dtype)  # BRK581
            return x + self.bias

    return Shift()


@rule.becomes
def good_on_demand():
    class Shift(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.bias = torch.nn.Parameter(torch.ones(4))

        def forward(self, x):
            bias = self.bias.to(x.dtype)
            return x + bias

    return Shift()
