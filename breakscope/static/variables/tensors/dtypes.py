"""Dtypes of tensors outside of regions, as guards tell them apart: float32 from float64, real from complex."""

from __future__ import annotations

from collections.abc import Sequence as Values

from msgspec.structs import replace

from breakscope.rulekit.values import External, Py, Tensor, Value
from breakscope.static.variables.tensors.results import COMPLEX_DTYPES

# Kinds of tensors whose precision is not the usual one: another dtype to a guard.
PRECISE = {
    "torch.float16": "half",
    "torch.half": "half",
    "torch.float64": "double",
    "torch.double": "double",
    "torch.bfloat16": "bfloat16",
}
NARROW = {  # integers but int64, which integers are unless something else is said
    "torch.int32": "int32",
    "torch.int": "int32",
    "torch.int16": "int16",
    "torch.short": "int16",
    "torch.int8": "int8",
    "torch.uint8": "uint8",
}
NARROWED = frozenset(NARROW.values())
COMPLEX = "complex"
FLOATS = {**PRECISE, **dict.fromkeys(COMPLEX_DTYPES, COMPLEX)}
RANKS = ("half", "bfloat16", "", "double", COMPLEX)  # of several the last is that of the result
METHODS = {"half": "float", "double": "float", "bfloat16": "float"}
NARROWING = {"int": "int32", "short": "int16", "char": "int8", "byte": "uint8"}
DTYPES = {
    ("float", ""): "torch.float32",
    ("float", "half"): "torch.float16",
    ("float", "double"): "torch.float64",
    ("float", "bfloat16"): "torch.bfloat16",
    ("int", ""): "torch.int64",
    **{("int", kind): f"torch.{kind}" for kind in set(NARROW.values())},
}
CONVERTING = frozenset({"float", "to", "type", "type_as", "astype", "cfloat", "numpy"})
PRECISIONS = frozenset({*FLOATS.values(), *NARROW.values()})
# what gives int64 for whole numbers of any type; of several results, only those that are positions
WIDENING = frozenset(
    """
    sum prod nansum cumsum cumprod count_nonzero argmax argmin argsort argwhere nonzero bincount trace sum_to_size
    searchsorted bucketize long
    """.split()
)
# those that give values and positions
PAIRS = frozenset("sort topk kthvalue median mode cummax cummin max min".split())
REAL = frozenset({"abs", "angle", "real", "imag", "view_as_real", "irfft", "irfft2", "irfftn"})


def kind_of_dtype(name: str) -> str:
    """The kind of a tensor of that dtype; "" where it is the usual float or integer."""
    return FLOATS.get(name) or NARROW.get(name, "")


def exact_dtype(owner: Tensor) -> External | None:
    """What `tensor.dtype` is, None where it is not known, as of a module's tensors, which may be converted."""
    if owner.kind in ("parameter", "buffer"):
        return None
    kind = owner.kind if owner.kind in PRECISIONS else ""
    name = DTYPES.get((owner.dtype, kind))
    return External(name) if name else None


def converted(
    owner: Tensor, name: str, args: Values[Value], kwargs: dict[str, Value]
) -> Tensor | None:
    """What a method gives that is given another dtype; None where that is said by its table."""
    if name in METHODS or name in NARROWING:
        dtype, kind = METHODS.get(name, "int"), NARROWING.get(name, name)
        return Tensor(dtype, owner.ndim, owner.shape, owner.sure, kind)
    if name not in ("to", "type", "type_as"):
        return None
    for wanted in (*args, *kwargs.values()):
        if isinstance(wanted, External) and (kind := kind_of_dtype(wanted.name)):
            dtype = "int" if wanted.name in NARROW else "float"
            return Tensor(dtype, owner.ndim, owner.shape, owner.sure, kind)
        if isinstance(wanted, Tensor):
            kind = wanted.kind if wanted.kind in PRECISIONS else ""
            return Tensor(wanted.dtype, owner.ndim, owner.shape, owner.sure, kind)
        is_dtype = isinstance(wanted, Py) and wanted.type == "dtype"
        # what is unknown may be a device, but why then say a precision before it
        if is_dtype or (wanted.is_unknown and owner.kind in FLOATS.values()):
            return Tensor(None, owner.ndim, owner.shape, owner.sure)
    return None


def promoted(made: Tensor, name: str, operands: Values[Value]) -> Tensor:
    """The result of an operation on these, in their precision: of several the widest, where a tensor of no
    dimension counts with its like only."""
    if made.dtype == "int" and not made.kind:
        return _narrow(made, name, operands)
    if made.dtype != "float" or made.kind or name in CONVERTING:
        return made
    floats = [t for t in operands if type(t) is Tensor and t.dtype == "float"]
    kinds = {t.kind if t.kind in RANKS else "" for t in floats if t.ndim != 0}
    kinds = kinds or {t.kind if t.kind in RANKS else "" for t in floats}
    kinds |= {COMPLEX for t in floats if t.kind == COMPLEX}
    kind = max(kinds, key=RANKS.index, default="")
    if kinds == {"half", "bfloat16"} or (kind == COMPLEX and name in REAL):
        return made
    return replace(made, kind=kind) if kind else made


def narrowed_in_region(
    made: Tensor, name: str, owner: Tensor, args: Values[Value], kwargs: dict[str, Value]
) -> Tensor:
    """Whole numbers of a region as narrow as `x.int()` and what is computed of it: Dynamo guards on no number in
    them, so each read of one ends the graph."""
    if name in NARROWING or name in ("to", "type"):
        wanted = converted(owner, name, args, kwargs)
        return replace(made, kind=wanted.kind) if wanted and wanted.kind in NARROWED else made
    if owner.kind not in NARROWED or (name in PAIRS and args):
        return made
    return replace(made, kind=owner.kind) if name not in WIDENING else made


def made_narrow(made: Value, kwargs: dict[str, Value]) -> Value:
    """What `dtype=` of a function makes as narrow in a region."""
    given = kwargs.get("dtype")
    kind = kind_of_dtype(given.name) if type(given) is External else ""
    if type(made) is not Tensor or made.kind or kind not in NARROWED:
        return made
    return replace(made, kind=kind)


def _narrow(made: Tensor, name: str, operands: Values[Value]) -> Tensor:
    """Whole numbers as narrow as all of them are, as `positions += 1` leaves int32; of no known type where they
    differ."""
    kinds = {t.kind for t in operands if type(t) is Tensor and t.dtype == "int"}
    if name in WIDENING or kinds.isdisjoint(NARROWED):
        return made
    is_one = len(kinds) == 1 and name not in PAIRS
    return replace(made, kind=kinds.pop()) if is_one else replace(made, dtype=None)
