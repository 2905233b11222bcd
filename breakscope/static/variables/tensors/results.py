"""What tensor methods and torch functions return: dtype, number of dimensions, shape, structure."""

from __future__ import annotations

from breakscope import limits
from breakscope.knowledge.ndim import DTYPE, KINDS, NDIM, call_form, is_same_shape
from breakscope.rulekit.values import (
    NONE,
    UNKNOWN,
    Const,
    External,
    Py,
    Sequence,
    ShapeInt,
    Tensor,
    Value,
    int_of,
)
from breakscope.static.machine.machine import Machine
from breakscope.static.variables.library.known_results import PYTHON_RESULTS

FLOAT_DTYPES = frozenset(
    f"torch.{n}" for n in ("float", "float16", "float32", "float64", "half", "double", "bfloat16")
)
COMPLEX_DTYPES = frozenset(
    f"torch.{n}" for n in ("complex32", "complex64", "complex128", "chalf", "cfloat", "cdouble")
)
UNSIGNED_DTYPES = frozenset(f"torch.{n}" for n in ("bool", "uint8", "uint16", "uint32", "uint64"))
# as NumPy and Python name them, too
PLAIN_DTYPES = frozenset(
    "bool int float double int8 int16 int32 int64 uint8 float16 float32 float64".split()
)
SIGNED_DTYPES = frozenset(
    f"torch.{n}" for n in ("int8", "int16", "int32", "int64", "short", "int", "long")
)
VALUES: dict[str, Value] = {
    "int": Py("int"),
    "bool": Py("bool"),
    "float": Py("float"),
    "str": Py("str"),
    "none": NONE,
    "shape": Sequence("size", None, ShapeInt(is_extent=True)),
    "dtype": Py("dtype"),
    "device": Py("device"),
    "python": UNKNOWN,
    "object": UNKNOWN,
}


def shape_of(owner: Tensor) -> Value:
    if owner.shape is not None:
        return Sequence("size", [ShapeInt(n, True) for n in owner.shape])
    if owner.ndim is not None:
        return Sequence("size", [ShapeInt(is_extent=True)] * owner.ndim)
    return Sequence("size", None, ShapeInt(is_extent=True))


def tensor_result(
    machine: Machine,
    name: str,
    owner: Tensor,
    args: list[Value],
    kwargs: dict[str, Value],
    full: str,
) -> Value:
    """What a tensor method, or a torch function whose first argument is a tensor, returns."""
    if name in ("dim", "ndimension") and owner.ndim is not None:
        return Const(owner.ndim)
    if name in ("size", "stride"):
        shape = shape_of(owner) if name == "size" else Sequence("tuple", None, ShapeInt())
        if (
            args
            and args[0].is_const
            and isinstance(args[0].value, int)
            and shape.items
            and -len(shape.items) <= args[0].value < len(shape.items)
        ):
            return shape.items[args[0].value]
        return ShapeInt(is_extent=name == "size") if args or kwargs else shape
    if name == "numpy":
        return Tensor(owner.dtype, owner.ndim, owner.shape, owner.sure, "numpy")
    if name == "new" and not args and not kwargs:
        return Tensor(owner.dtype, 1, (0,), owner.sure, owner.kind_of_result)
    if name == "type":
        return cast_tensor(owner, args[0] if args else UNKNOWN) if args or kwargs else Py("str")
    if name in ("to", "astype"):
        wanted = [
            v
            for v in (*args, *kwargs.values())
            if isinstance(v, Tensor) or names_dtype(v, name == "astype")
        ]
        return cast_tensor(owner, wanted[0]) if wanted else owner
    python = machine.library.returns(full)
    if python == "int":
        return ShapeInt(is_extent=name in ("numel", "nelement"))
    if python == "bool" and not machine.library.reads_data(full):
        return Py("bool", "config")
    if python in VALUES:
        return VALUES[python]
    if name in ("t", "transpose", "permute") and owner.shape is not None and owner.kind == "":
        shape = tuple(reversed(owner.shape)) if name == "t" else None
        return Tensor(owner.dtype, owner.ndim, shape, owner.sure, "strided")
    of_package = full.startswith(("torch.", "numpy.")) and not full.startswith("numpy.ndarray.")
    return shaped_result(machine, name, full, owner, args[1:] if of_package else args, kwargs)


def shaped_result(
    machine: Machine,
    name: str,
    full: str,
    owner: Tensor,
    rest: list[Value],
    kwargs: dict[str, Value],
) -> Value:
    """The tensors that the table `shapes` says; `rest` are the arguments behind the tensor."""
    known = machine.library.shape(full, call_form(rest, kwargs))
    if known is None:
        dtype = given_dtype(kwargs) or ("float" if owner.dtype == "float" else None)
        return Tensor(dtype, None, None, owner.sure, owner.kind_of_result)
    is_number = owner.has_known_value and all(v.is_const for v in (*rest, *kwargs.values()))
    squeezed = _squeezed_ndim(name, owner, rest, kwargs)
    made = [
        Tensor(
            result_dtype(result.dtype, owner, rest, kwargs),
            NDIM[result.ndim](owner, rest, kwargs) if squeezed is None else squeezed,
            owner.shape if is_same_shape(result.ndim, rest, kwargs) else None,
            owner.sure,
            owner.kind_of_result,
            "number" if is_number else "op",
        )
        for result in known.results
    ]
    if known.container == "list":
        return pieces_of(name, made[0], rest, kwargs)
    return Sequence("tuple", list(made)) if known.container else made[0]


def _squeezed_ndim(
    name: str, owner: Tensor, rest: list[Value], kwargs: dict[str, Value]
) -> int | None:
    """The dimensions of `x.squeeze(-1)`: whoever names one has a size of 1 there, which the types of the
    tensors in a region do not say."""
    given = [*rest, *kwargs.values()]
    if name not in ("squeeze", "squeeze_") or not owner.ndim or len(given) != 1:
        return None
    return owner.ndim - 1 if int_of(given[0]) is not None else None


def cast_tensor(owner: Tensor, wanted: Value) -> Tensor:
    """The tensor under another dtype."""
    dtype = owner.dtype
    if isinstance(wanted, Tensor):
        dtype = wanted.dtype
    elif isinstance(wanted, External) or names_dtype(wanted, True):
        dtype = dtype_named(wanted)
    elif (isinstance(wanted, Py) and wanted.type == "dtype") or wanted.is_unknown:
        dtype = None if owner.dtype is None else "float"
    origin = "number" if owner.has_known_value else "op"
    return Tensor(dtype, owner.ndim, owner.shape, owner.sure, owner.kind_of_result, origin)


def pieces_of(name: str, piece: Tensor, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """Several tensors, as many as the arguments say where they do."""
    count = next(
        (v for v in (*args, *kwargs.values()) if v.is_const and isinstance(v.value, int)), None
    )
    if name == "chunk" and count is not None and 0 < count.value <= limits.MOST_CHUNKS:
        return Sequence("tuple", [piece] * count.value)
    sizes = next(
        (v for v in (*args, *kwargs.values()) if isinstance(v, Sequence) and v.items), None
    )
    if name in ("split", "split_with_sizes") and sizes is not None:
        return Sequence("tuple", [piece] * len(sizes.items))
    return Sequence("tuple", None, piece)


def result_dtype(
    rule: str, owner: Tensor, rest: list[Value], kwargs: dict[str, Value]
) -> str | None:
    """A result's dtype, by a word of the table `shapes`, where `dtype=` does not say another."""
    if kwargs.get("dtype", NONE).is_none or rule in KINDS:
        return given_dtype(kwargs) or DTYPE[rule](owner, rest, kwargs)
    return given_dtype(kwargs) or ("float" if owner.dtype == "float" else None)


def given_dtype(kwargs: dict[str, Value]) -> str | None:
    """What `dtype=` says."""
    given = kwargs.get("dtype")
    return dtype_named(given) if isinstance(given, External) else None


def returned_value(machine: Machine, full: str) -> Value | None:
    """What a library call is known to return, or returns by the generated table; None where neither says so."""
    return PYTHON_RESULTS.get(full) or VALUES.get(machine.library.returns(full))


def names_dtype(value: Value, is_numpy: bool) -> bool:
    """True for a dtype of torch's or NumPy's, for Python's `bool`, `int` and `float`, and for the name of one
    that an array is made of or cast to."""
    if isinstance(value, Const):
        return is_numpy and type(value.value) is str and value.value in PLAIN_DTYPES
    if not isinstance(value, External):
        return False
    head, _, last = value.name.rpartition(".")
    return head == "torch" or (head in ("", "numpy") and last.removesuffix("_") in PLAIN_DTYPES)


def dtype_named(wanted: External | Const) -> str:
    """Of a dtype, or of a class of tensors as `torch.FloatTensor`."""
    name = wanted.name if isinstance(wanted, External) else str(wanted.value)
    last = name.rpartition(".")[2].removesuffix("_")
    last = last.removesuffix("Tensor").lower() or "float"
    if last == "bool":
        return "bool"
    return "float" if f"torch.{last}" in FLOAT_DTYPES | COMPLEX_DTYPES else "int"


def dtype_attribute(dtype: str, name: str) -> Const | None:
    """`torch.float32.is_complex`, None for what is no known dtype or no such attribute."""
    if dtype not in FLOAT_DTYPES | COMPLEX_DTYPES | SIGNED_DTYPES | UNSIGNED_DTYPES:
        return None
    known = {
        "is_complex": dtype in COMPLEX_DTYPES,
        "is_floating_point": dtype in FLOAT_DTYPES,
        "is_signed": dtype not in UNSIGNED_DTYPES,
    }
    return Const(known[name]) if name in known else None
