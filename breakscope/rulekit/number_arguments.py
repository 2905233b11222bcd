"""Which arguments of torch's functions and methods must be Python numbers: sizes, dimensions, rates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from breakscope.rulekit.values import Sequence, Value

ALL = range(8)
# name -> positions of the arguments that must be Python numbers; the receiver of a method is not
# counted
SIZES = {
    **{
        f"torch.{name}": ALL
        for name in ("zeros", "ones", "empty", "rand", "randn", "arange", "eye", "randperm")
    },
    **{f"torch.fft.{name}": (0,) for name in ("fftfreq", "rfftfreq")},
    **{
        f"torch.{name}_window": (0,)
        for name in ("bartlett", "blackman", "hamming", "hann", "kaiser")
    },
    **{
        f"Tensor.{name}": ALL
        for name in (
            "new_zeros",
            "new_ones",
            "new_empty",
            "view",
            "reshape",
            "expand",
            "repeat",
            "roll",
            "permute",
        )
    },
    **{f"Tensor.{name}": (0,) for name in ("topk", "new_full", "chunk", "kthvalue", "split")},
    **{
        f"torch.{name}": (1,)
        for name in ("topk", "chunk", "split", "roll", "reshape", "kthvalue", "permute")
    },
    "Tensor.narrow": (1, 2),
    "torch.narrow": (2, 3),
    "Tensor.select": (1,),
    "torch.select": (2,),
    "torch.full": (0,),
    **{
        f"torch.nn.functional.adaptive_{kind}_pool{n}d": (1,)
        for kind in ("avg", "max")
        for n in (1, 2, 3)
    },
    "torch.linspace": (2,),
    "torch.logspace": (2,),
    "torch.tril_indices": (0, 1),
    "torch.triu_indices": (0, 1),
    "torch.randint": ALL,
    "torch.nn.functional.pad": (1,),
    "torch.nn.functional.interpolate": (1,),
    "torch.nn.functional.one_hot": (1,),
}


KEYWORDS = (
    "*",  # `x.permute(*order)`
    "size",
    "k",
    "length",
    "chunks",
    "steps",
    "shape",
    "num_classes",
    "low",
    "high",
    "split_size_or_sections",
)

# Operator -> keyword and position of each argument that must be a number; positions count the
# tensor as 0.
NUMBERS = {
    "dropout": {"p": 1},
    "roll": {"shifts": 1},
    "tril": {"diagonal": 1},
    "triu": {"diagonal": 1},
    "select": {"index": 2},
    "chunk": {"chunks": 1},
    "leaky_relu": {"negative_slope": 1},
    "softshrink": {"lambd": 1},
    "hardshrink": {"lambd": 1},
    "elu": {"alpha": 1},
    "celu": {"alpha": 1},
    "add": {"alpha": None},
    "sub": {"alpha": None},
    "norm": {"p": 1},
    "addcmul": {"value": None},
    "addcdiv": {"value": None},
    "uniform_": {"from": 1, "to": 2},
    "normal_": {"mean": 1, "std": 2},
    "scaled_dot_product_attention": {"scale": None},
    "tensor_split": {"indices_or_sections": 1},
    "new_full": {"fill_value": 2},
    "scalar_tensor": {"s": 0},
    "huber_loss": {"delta": 4},
    "smooth_l1_loss": {"beta": 5},
    "layer_norm": {"eps": 4},
    "threshold": {"threshold": 1, "value": 2},
    "cosine_similarity": {"eps": 3},
    "addmm": {"alpha": None, "beta": None},
    "baddbmm": {"alpha": None, "beta": None},
    "addmv": {"alpha": None, "beta": None},
    "repeat_interleave": {"output_size": None},
}
OWNERS = ("torch", "Tensor", "torch.nn.functional", "torch.linalg")

# operators that take several dimensions, behind the tensor
OVER_DIMENSIONS = """sum mean nansum nanmean amax amin std var std_mean var_mean logsumexp any all flip squeeze tile
norm fft.fftn fft.ifftn fft.rfftn fft.irfftn""".split()
WITH_NUMBERS = frozenset(f"{owner}.{name}" for owner in OWNERS for name in NUMBERS)
WITH_DIMENSIONS = frozenset(f"{owner}.{name}" for owner in OWNERS for name in OVER_DIMENSIONS)


class Given(NamedTuple):
    """A call; an event has the same."""

    name: str
    args: tuple[Value, ...]
    kwargs: Mapping[str, Value]


def sizes_of(call: Given) -> list[Value]:
    """The sizes that a call is given, also those in a tuple or list of them."""
    given = [call.args[at] for at in SIZES[call.name] if at < len(call.args)]
    given += [call.kwargs[name] for name in KEYWORDS if name in call.kwargs]
    return [*given, *_inside(given)]


def _inside(values: list[Value]) -> list[Value]:
    found = (value.items or [value.element] for value in values if isinstance(value, Sequence))
    return [item for items in found for item in items]


def numbers_of(call: Given) -> list[Value]:
    """What a call is given for the arguments in NUMBERS."""
    owner, _, name = call.name.rpartition(".")
    found = []
    for keyword, at in NUMBERS[name].items():
        position = None if at is None else at - (owner == "Tensor")
        if keyword in call.kwargs:
            found.append(call.kwargs[keyword])
        elif position is not None and position < len(call.args):
            found.append(call.args[position])
    return found


def dimensions_of(call: Given) -> list[Value]:
    """What a call of an operator in OVER_DIMENSIONS is given for its dimensions."""
    owner, _, name = call.name.rpartition(".")
    behind = 0 if owner == "Tensor" else 1
    is_second = name in ("norm", "fftn", "ifftn", "rfftn", "irfftn")
    first = () if is_second else call.args[behind:][:1]
    named = (call.kwargs.get(word) for word in ("dim", "dims", "axis"))
    return [value for value in (*first, *named) if value is not None]


def needed(call: Given) -> list[Value]:
    """All arguments of a call that must be Python numbers."""
    found = sizes_of(call) if call.name in SIZES else []
    if call.name in WITH_NUMBERS:
        found += numbers_of(call)
    if call.name in WITH_DIMENSIONS:
        found += dimensions_of(call)
    return [*found, *_inside(found)]
