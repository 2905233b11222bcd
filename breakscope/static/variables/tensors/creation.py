"""Tensors made from sizes or Python values: their dtype, number of dimensions and shape."""

from __future__ import annotations

import math

from breakscope.rulekit.values import (
    TRUE,
    UNKNOWN,
    Const,
    External,
    Py,
    Scalar,
    Sequence,
    ShapeInt,
    Tensor,
    Value,
    int_of,
)
from breakscope.static.variables.tensors.dtypes import PRECISE
from breakscope.static.variables.tensors.results import dtype_named, names_dtype
from breakscope.static.variables.tensors.sizes import DrawnSize

CREATES = frozenset(
    """
    randn rand zeros ones empty full randint arange linspace logspace eye randperm tensor as_tensor from_numpy
    normal bernoulli tril_indices triu_indices hann_window full_like scalar_tensor asarray array empty_strided
    complex polar hamming_window geomspace
    """.split()
)
OF_NUMBERS = frozenset({"tensor", "as_tensor"})
SIZED = frozenset({"randn", "rand", "zeros", "ones", "empty"})
DIMENSIONS = {
    "arange": 1,
    "linspace": 1,
    "logspace": 1,
    "geomspace": 1,
    "randperm": 1,
    "eye": 2,
    "hann_window": 1,
    "tril_indices": 2,
    "triu_indices": 2,
}


def created_tensor(last: str, args: list[Value], kwargs: dict[str, Value]) -> Tensor:
    """A tensor made from sizes or Python values."""
    given = kwargs.get("dtype")
    dtype = None
    if given is not None and names_dtype(given, True):
        dtype = dtype_named(given)
    elif given is None and last in ("randint", "randperm", "tril_indices", "triu_indices"):
        dtype = "int"
    elif given is None and last in tuple(
        "randn rand zeros ones empty linspace geomspace logspace normal".split()
    ):
        dtype = "float"
    elif last == "arange" and given is None:
        dtype = (
            "int" if all(not (a.is_const and isinstance(a.value, float)) for a in args) else "float"
        )
    elif last in ("tensor", "as_tensor", "array", "asarray") and given is None and args:
        dtype = dtype_of_data(args[0])
    elif last == "full" and given is None:
        dtype = dtype_of_data(args[1] if len(args) > 1 else kwargs.get("fill_value", UNKNOWN))
    if last in ("as_tensor", "asarray", "from_numpy") and args and isinstance(args[0], Tensor):
        source = args[0]
        return Tensor(
            dtype or source.dtype,
            source.ndim,
            source.shape,
            source.sure,
            "numpy" if last == "asarray" else "",
        )
    sizes = sizes_given(last, args, kwargs)
    ndim = len(sizes) if sizes is not None else DIMENSIONS.get(last)
    if last in ("tensor", "array", "as_tensor", "asarray") and args:
        ndim, sizes = ndim_of_data(args[0])
    known = sizes is not None and all(
        isinstance(s, Const) and isinstance(s.value, int) for s in sizes
    )
    kind = (
        "numpy"
        if last == "array"
        else PRECISE.get(given.name, "")
        if isinstance(given, External)
        else ""
    )
    shape = tuple(s.value for s in sizes) if known else drawn_sizes(sizes)
    tracked = True if kwargs.get("requires_grad") == TRUE else None
    is_number = last in OF_NUMBERS and args and _is_number(args[0], last == "as_tensor")
    origin = "number" if is_number else "op"
    return Tensor(dtype, ndim, shape, True, kind, origin, requires_grad=tracked)


def _is_number(data: Value, is_guarded: bool) -> bool:
    """A number that is the same in every call, alone or in a list of one; any number of Python's where Dynamo puts a
    guard on its value."""
    if is_guarded and type(data) is Py and not data.is_drawn and dtype_of_data(data) is not None:
        return True
    if isinstance(data, Sequence) and data.items is not None and len(data.items) == 1:
        data = data.items[0]
    is_flag = isinstance(data, Py) and (data.source, data.type) == ("argument", "bool")
    is_known = is_flag or isinstance(data, Const) or getattr(data, "source", "") == "config"
    return is_known and dtype_of_data(data) is not None


def drawn_sizes(sizes: list[Value] | None) -> tuple | None:
    """The sizes of which one is a random number; None where none is."""
    if not any(isinstance(size, Py) and size.is_drawn for size in sizes or ()):
        return None
    return tuple(
        DrawnSize() if isinstance(size, Py) and size.is_drawn else int_of(size) for size in sizes
    )


def is_never_made(args: list[Value], kwargs: dict[str, Value]) -> bool:
    """True for `torch.Tensor(0.5)` and `torch.Tensor(data, dtype=...)`, which the old constructors raise for."""
    is_float = len(args) == 1 and args[0].is_const and type(args[0].value) is float
    return is_float or "dtype" in kwargs


def tensor_of_type(dtype: str, args: list[Value]) -> Tensor:
    """What `torch.LongTensor(data)` or `torch.LongTensor(2, 3)` returns."""
    if len(args) == 1 and isinstance(args[0], Sequence | Tensor):
        if isinstance(args[0], Tensor):
            return Tensor(dtype, args[0].ndim, args[0].shape)
        ndim, sizes = ndim_of_data(args[0])
        known = sizes is not None and all(type(n) is Const for n in sizes)
        return Tensor(dtype, ndim, tuple(n.value for n in sizes) if known else None)
    if len(args) == 1 and not args[0].is_number:
        return Tensor(dtype)  # of what is not known: a size, or data of any number of dimensions
    return Tensor(dtype, len(args)) if args else Tensor(dtype, 1, (0,))


def sizes_given(last: str, args: list[Value], kwargs: dict[str, Value]) -> list[Value] | None:
    given = kwargs.get("size")
    if last in SIZED:
        if len(args) == 1 and isinstance(args[0], Sequence):
            return args[0].items
        return (
            args
            if args and not kwargs.get("*") and all(not isinstance(a, Sequence) for a in args)
            else (given.items if isinstance(given, Sequence) else None)
        )
    if last in ("full", "randint", "normal"):
        found = given or next((a for a in args if isinstance(a, Sequence)), None)
        return found.items if isinstance(found, Sequence) else None
    if last in ("randperm", "arange") and len(args) == 1:
        return args
    if last == "arange" and len(args) in (2, 3) and all(isinstance(a, Const) for a in args):
        return _of_range([a.value for a in args])
    if last in ("linspace", "logspace", "geomspace"):
        count = args[2] if len(args) > 2 else kwargs.get("steps", kwargs.get("num"))
        return [count] if count is not None else None
    if last == "eye" and args:
        return [args[0], args[1] if len(args) > 1 else args[0]]
    return None


def _of_range(bounds: list) -> list[Value] | None:
    """The size of `torch.arange(start, stop, step)`."""
    start, stop, step = (*bounds, 1)[:3]
    numbers = all(type(n) in (int, float) and math.isfinite(n) for n in (start, stop, step))
    if not numbers or not step:
        return None
    return [Const(max(0, math.ceil((stop - start) / step)))]


def dtype_of_data(data: Value) -> str | None:
    if isinstance(data, Const):
        return {"bool": "bool", "int": "int", "float": "float"}.get(type(data.value).__name__)
    if data.is_shape:
        return "int"
    if isinstance(data, Tensor):
        return data.dtype
    if isinstance(data, Sequence):
        inner = data.items[0] if data.items else data.element
        return dtype_of_data(inner)
    return data.type if isinstance(data, Py) and data.type in ("bool", "int", "float") else None


def ndim_of_data(data: Value) -> tuple[int | None, list[Value] | None]:
    if isinstance(data, Py) and data.type == "unknown":
        return None, None  # configuration may be a list
    if isinstance(data, Const | ShapeInt | Scalar | Py):
        return 0, []
    if isinstance(data, Sequence) and data.items is not None:
        if not data.items:
            return 1, [Const(0)]
        ndim, sizes = ndim_of_data(data.items[0])
        return (ndim + 1 if ndim is not None else None), (
            [Const(len(data.items)), *sizes] if sizes is not None else None
        )
    if isinstance(data, Sequence) and not isinstance(data.element, Sequence | Tensor):
        return (1 if dtype_of_data(data.element) is not None else None), None
    return None, None
