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
        for name in "new_zeros new_ones new_empty view reshape expand repeat roll permute".split()
    },
    **{f"Tensor.{name}": (0,) for name in ("topk", "new_full", "chunk", "kthvalue", "split")},
    **{
        f"torch.{name}": (1,)
        for name in ("topk", "chunk", "split", "roll", "reshape", "kthvalue", "permute")
    },
    **{f"numpy.{name}": ALL for name in ("arange", "eye")},
    **{f"numpy.{name}": (0,) for name in ("zeros", "ones", "empty", "full")},
    **{f"numpy.{name}": (1,) for name in ("reshape", "roll")},
    "numpy.linspace": (2,),
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
    "torch.nn.functional.affine_grid": (1,),
    "torch.nn.functional.fold": (1, 2),
    "torch.nn.functional.unfold": (1,),
    **{
        f"torch.nn.functional.{kind}_pool{n}d": (1, 2, 3)
        for kind in ("avg", "max")
        for n in (1, 2, 3)
    },
    **{f"torch.nn.functional.lp_pool{n}d": (2, 3) for n in (1, 2, 3)},
    **{f"torch.nn.functional.conv{n}d": (3, 4, 5) for n in (1, 2, 3)},
    **{f"torch.nn.functional.conv_transpose{n}d": (3, 4, 5) for n in (1, 2, 3)},
    **{
        f"torch.fft.{inverse}{kind}{n}": (1,)
        for inverse in ("", "i")
        for kind in ("fft", "rfft", "hfft")
        for n in ("2", "n")
    },
    "Tensor.broadcast_to": ALL,
    "torch.broadcast_to": (1,),
    "Tensor.unflatten": (1,),
    "torch.unflatten": (2,),
    "Tensor.unfold": (1, 2),
    "Tensor.as_strided": (0, 1),
    "torch.as_strided": (1, 2),
    "torch.empty_strided": (0, 1),
    "torch.normal": (2,),
}


KEYWORDS = (
    "*",  # `x.permute(*order)`
    "size",
    "sizes",
    "s",
    "output_size",
    "kernel_size",
    "stride",
    "padding",
    "dilation",
    "pad",
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

# The same as the table `numbers` has, of what torch's samples do not show: operator -> keyword and
# position of each argument that must be a number; positions count the tensor as 0.
NUMBERS = {
    "roll": {"shifts": 1},
    "addcmul": {"value": None},
    "addcdiv": {"value": None},
    "tensor_split": {"indices_or_sections": 1},
    "scalar_tensor": {"s": 0},
    "celu": {"alpha": 1},
    "interpolate": {"scale_factor": 2},
    "normal": {"mean": 0, "std": 1},
    "fake_quantize_per_tensor_affine": {"quant_min": 3, "quant_max": 4},
    "fake_quantize_per_channel_affine": {"axis": 3, "quant_min": 4, "quant_max": 5},
}
OWNERS = ("torch", "Tensor", "torch.nn.functional", "torch.linalg")

# operators that take several dimensions, behind the tensor
OVER_DIMENSIONS = """sum mean nansum nanmean amax amin std var std_mean var_mean logsumexp any all flip squeeze tile
norm fft.fftn fft.ifftn fft.rfftn fft.irfftn""".split()
DIMENSIONS = ("dim", "dims", "axis")
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


def numbers_of(call: Given, known: Mapping[str, int | None]) -> list[Value]:
    """What a call is given for arguments that must be numbers; `known` are those that the table `numbers`
    has of the function."""
    owner, _, name = call.name.rpartition(".")
    behind = int(owner == "Tensor")
    others = DIMENSIONS if call.name in WITH_DIMENSIONS else ()
    others = KEYWORDS if call.name in SIZES else others
    places = {
        keyword: at
        for keyword, at in known.items()
        if keyword not in others and (at is None or at - behind not in SIZES.get(call.name, ()))
    }
    has_sizes = len(call.args) > 2 or "size" in call.kwargs
    if call.name in WITH_NUMBERS and (name != "normal" or has_sizes):
        places |= NUMBERS[name]
    found = []
    for keyword, at in places.items():
        position = None if at is None else at - behind
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
    named = (call.kwargs.get(word) for word in DIMENSIONS)
    return [value for value in (*first, *named) if value is not None]


def needed(call: Given, known: Mapping[str, int | None]) -> list[Value]:
    """All arguments of a call that must be Python numbers; `known` as for `numbers_of`."""
    found = sizes_of(call) if call.name in SIZES else []
    found += numbers_of(call, known)
    if call.name in WITH_DIMENSIONS:
        found += dimensions_of(call)
    return [*found, *_inside(found)]
