"""A size computed from a tensor's values ends the graph.

`torch.zeros(2, lengths.max())`, `x.view(n.max(), -1)`, `torch.arange(lengths.max())`,
`x.topk(k_tensor * 2)` all need a Python number: torch converts the 0-d tensor silently, Dynamo
reports GB0033 on `aten._local_scalar_dense` and stops. A 0-d tensor that is itself an argument or a
buffer is accepted as a size without a break on 2.13, and so is one that was computed before an earlier
break, or made of one number as `torch.tensor(3)`; anything computed from a tensor in the same graph is not. Numpy's numbers are arrays while Dynamo traces, so `x.reshape(-1, np.prod(x.shape[1:]))` reads one too:
`math.prod` gives a Python number.

Use a size that Python knows: `x.shape`, a maximum fixed in `__init__`, or the padded length from
the data loader passed as an int. `torch.arange(x.shape[1]) < lengths[:, None]` replaces most
buffers sized by `lengths.max()`.

The padded result has more columns than the trimmed one; mask what follows. `torch._dynamo.config.
capture_scalar_outputs = True` is the other way out, at the price of dynamic sizes downstream.

Where the tensor was made of a list in the same file (`sizes = torch.as_tensor(sizes_list)`), and a
function only goes over it, the rewrite gives that function the list: its numbers are Python's.
"""

import math

import numpy as np
import torch

from breakscope.knowledge import since
from breakscope.rulekit.events import Call
from breakscope.rulekit.numbers.arguments import SIZES, sizes_of
from breakscope.rulekit.rule import Rule
from breakscope.rulekit.values import Py, Union, condition_of, options

NARROW = frozenset({"int32", "int16", "int8", "uint8"})
rule = Rule("BRK208", "size-from-tensor", shares=("GB0033",), fix="unsafe")


@rule.on(Call, SIZES)
def check(event):
    read = [value for value in sizes_of(event) if _may_be_read(value)]
    star = event.kwargs.get("*")  # `torch.zeros(n, *sizes)`: a row of sizes stands for numbers
    if star is not None and star.is_tensor and star.is_computed and not read:
        read = [star]
    if read:
        is_open = (
            type(read[0]) is Union
            or getattr(read[0], "source", "") == "config"
            or not getattr(read[0], "sure", True)
        )
        yield event.graph_break(
            f"a size in `{event.source}` is read from a tensor",
            help="use a size that Python knows (`x.shape`, a fixed maximum, an int argument) and mask the rest",
            setting="capture_scalar_outputs",
            certainty="likely" if is_open and event.certainty == "certain" else None,
            condition=condition_of(read[0], _is_read),
            reads=read[0] if len(read) == 1 and _is_guarded(read[0]) else None,
        )


def _is_guarded(value):
    """True for what may be a whole number of int64: where a graph begins with it, Dynamo guards on the number. Of
    the others it reads each time."""
    return getattr(value, "ndim", 0) != 1 and getattr(value, "kind", "") not in NARROW


def _may_be_read(value):
    """True for a number that is read, also where it may be something else; but what only its type shows
    to be a tensor is then that, unless it is known when it is one."""
    found = [option for option in options(value) if _is_read(option)]
    others = [option for option in options(value) if option not in found]
    is_known = all(o.is_const for o in others) or condition_of(value, _is_read) != ""
    return bool(found) and (is_known or any(getattr(option, "sure", True) for option in found))


def _is_read(value):
    """A number computed from a tensor, or by numpy, whose numbers are arrays while Dynamo traces."""
    if value.is_tensor:
        return value.is_computed and not value.has_known_value and _is_number(value)
    return isinstance(value, Py) and value.type == "numpy number"


def _is_number(tensor):
    """A tensor that stands where a size must stand has one element, when it certainly is one."""
    if tensor.ndim == 0:
        return True
    is_sure = tensor.origin == "part" or (tensor.sure and tensor.dtype == "int")
    return tensor.ndim in (None, 1) and is_sure


@rule.rewrite
def rewrite(node, problem, place):
    from breakscope.rulekit.rewrites.leaf import as_leaf
    from breakscope.rulekit.rewrites.same_list import from_the_list

    return from_the_list(problem, place) or (as_leaf(problem, place) if since("2.13") else None)


@rule.example(lambda: (torch.ones(14, 2),), module=True)
def bad():
    class Model(torch.nn.Module):
        def grid(self, sizes):
            rows = []
            for height in sizes:
                rows.append(torch.arange(height))  # BRK208
            return torch.cat(rows)

        def forward(self, x):
            sizes_list = [x.shape[0] // 2, x.shape[1]]
            sizes = torch.as_tensor(sizes_list)
            return x.sum() * self.grid(sizes) + sizes.sum()

    return Model()


@rule.becomes
def good():
    class Model(torch.nn.Module):
        def grid(self, sizes):
            rows = []
            for height in sizes:
                rows.append(torch.arange(height))
            return torch.cat(rows)

        def forward(self, x):
            sizes_list = [x.shape[0] // 2, x.shape[1]]
            sizes = torch.as_tensor(sizes_list)
            return x.sum() * self.grid(sizes_list) + sizes.sum()

    return Model()


@rule.example(lambda: (torch.tensor([1, 2, 4]),), lambda: (torch.tensor([4, 0]),), fixed=False)
def bad(lengths):
    steps = torch.arange(lengths.max())  # BRK208
    return (steps < lengths[:, None]).sum(1) / 4


@rule.becomes
def good(lengths):
    steps = torch.arange(4)
    return (steps < lengths[:, None]).sum(1) / 4


@rule.example(lambda: (torch.ones(2, 3, 4),), fixed=False)
def bad_product(x):
    return x.reshape(-1, np.prod(x.shape[1:]))  # BRK208


@rule.becomes
def good_product(x):
    return x.reshape(-1, math.prod(x.shape[1:]))
