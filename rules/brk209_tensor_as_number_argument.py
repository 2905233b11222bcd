"""A tensor passed where an operator wants a Python number ends the graph.

`x.clamp(0, limit)` with one number and one tensor, `dropout(x, p)`, `add(x, y, alpha=a)`,
`norm(p=t)`, `uniform_(low, high)`, `leaky_relu(x, slope)`: torch converts the 0-d tensor to a
number by reading it, silently, and Dynamo reports GB0033 on `aten._local_scalar_dense`. A tensor
that requires grad raises an error in most of these.

So does a tuple or list of tensors, or of NumPy numbers, in place of dimensions:
`x.mean(tuple(np.arange(1, x.ndim)))`. Write `range` there.

The indices of `tensor_split` are read in the same way where they are a tensor, a buffer too, or a list of tensors or
of NumPy numbers (`list(np.cumsum(sizes))`); pass a tuple of numbers.

Use the form that takes tensors: `torch.minimum`/`torch.maximum` or a `clamp` whose bounds are both
tensors; `torch.add(x, a * y)` for alpha; a tensor formula for the slope; `low + (high - low) *
torch.rand(...)` for uniform. A rate that never changes should be a Python float in the first place.

The tensor form lets gradients reach the bound or factor where the number form cut them; `.detach()`
it to keep that.
"""

import numpy as np
import torch

from breakscope.knowledge import load
from breakscope.rulekit.events import Call
from breakscope.rulekit.numbers.arguments import (
    OWNERS,
    WITH_DIMENSIONS,
    WITH_NUMBERS,
    dimensions_of,
    numbers_of,
)
from breakscope.rulekit.rule import Rule
from breakscope.rulekit.values import Sequence, options

CLAMPS = ("clamp", "clip", "clamp_")
rule = Rule("BRK209", "tensor-as-number-argument", dynamo=("GB0033: _local_scalar_dense",))


@rule.on(
    Call,
    lambda: load().numbers,
    WITH_NUMBERS,
    {f"{owner}.{name}" for owner in OWNERS for name in CLAMPS},
)
def check(event):
    owner, _, name = event.name.rpartition(".")
    skip = 1 if owner == "Tensor" else 0
    if skip and not (event.receiver.is_tensor and event.receiver.origin != "guess"):
        return  # a layer of that name, `self.layers[0].norm(x)`, takes tensors
    if name not in CLAMPS:
        given = numbers_of(event, load().numbers.get(event.name, {}))
    else:
        given = [event.argument(1 - skip, "min"), event.argument(2 - skip, "max")]
        if not any(value is not None and (value.is_const and not value.is_none) for value in given):
            return  # two tensors, or one tensor alone, is the traced overload
    given = [value for value in given if value is not None]
    # an input of no dimension becomes a symbolic number, one of several indices does not
    has_indices = name == "tensor_split" and any(map(_are_indices, given))
    if has_indices or any(map(_is_read, given)):
        yield event.graph_break(
            f"`{name}` gets a tensor where it needs a Python number and reads its value",
            help="use the form that takes tensors (`torch.minimum`, a product, `torch.where`), or pass a Python number",
        )


@rule.on(Call, WITH_DIMENSIONS)
def check_dimensions(event):
    name = event.name.rpartition(".")[2]
    for given in dimensions_of(event):
        items = (given.items or [given.element]) if isinstance(given, Sequence) else ()
        if given.is_tensor and given.is_computed and given.ndim == 0:
            items = [given]
        if any(item.is_tensor and item.origin not in ("guess", "number") for item in items):
            yield event.graph_break(
                f"a dimension that `{name}` is given is a tensor, whose value it reads",
                help="use Python numbers for dimensions: `range` in place of `np.arange`, a tuple in place of an array",
            )
            return


def _are_indices(value):
    """True for a tensor of one dimension, or None, and for a list with a tensor or a NumPy number that is
    computed."""
    return any(
        (option.is_tensor and option.ndim == 1)
        or (isinstance(option, Sequence) and any(map(_is_read, option.items or [option.element])))
        for option in options(value)
    )


def _is_read(value):
    """True for a tensor. One of integers that is itself an argument or a buffer is taken as a symbolic
    number."""
    if not value.is_tensor or value.origin == "guess" or value.has_known_value:
        return False
    if value.kind == "buffer":
        return value.dtype in ("float", "bool")
    return value.is_computed or value.dtype != "int"


@rule.example(
    lambda: (torch.arange(4.0),),
    lambda: (torch.tensor([torch.nan, 1.0]),),
    lambda: (-torch.ones(3),),
)
def bad(x):
    return x.clamp(0, x.mean())  # BRK209


@rule.becomes
def good(x):
    return x.clamp(torch.zeros(()), x.mean())


@rule.example(lambda: (torch.arange(4.0),), lambda: (torch.ones(2),))
def bad_alpha(x):
    return x.add(x.cos(), alpha=x.mean())  # BRK209


@rule.becomes
def good_alpha(x):
    return x.add(x.cos() * x.mean())


@rule.example(lambda: (torch.ones(2, 3, 4),), dynamo=("GB0033",))
def bad_dimensions(x):
    return x.mean(tuple(np.arange(1, x.ndim)))  # BRK209


@rule.becomes
def good_dimensions(x):
    return x.mean(tuple(range(1, x.ndim)))


@rule.example(lambda: (torch.ones(2, 3),), lambda: (-torch.ones(2, 3),))
def bad_padding(x):
    return torch.nn.functional.pad(x, (1, 1), value=x.min())  # BRK209


@rule.example(lambda: (torch.arange(6.0),), dynamo=("GB0033",), module=True)
def bad_indices():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("ends", torch.tensor([2, 4]))

        def forward(self, x):
            return x.tensor_split(self.ends)[0] + 1  # BRK209

    return Net()


@rule.becomes
def good_indices():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.ends = (2, 4)

        def forward(self, x):
            return x.tensor_split(self.ends)[0] + 1

    return Net()


@rule.example(lambda: (torch.ones(6),))
def bad_list(x):
    return x.tensor_split(list(np.cumsum([1, 2])))[0] + 1  # BRK209


@rule.becomes
def good_list(x):
    return x.tensor_split([1, 3])[0] + 1
