"""What tensor methods and torch functions return: dtype, rank, tuples, plain values."""

from __future__ import annotations

from breakscope.static.ranks import SAME_SHAPE, rank_of_result, reduced_rank
from breakscope.values import (
    FALSE,
    NONE,
    UNKNOWN,
    Const,
    External,
    Py,
    Sequence,
    ShapeInt,
    Tensor,
    Value,
)

KEEPS_DTYPE = frozenset(
    """
    view reshape squeeze unsqueeze expand expand_as transpose permute flatten contiguous detach clone flip roll
    repeat t cuda cpu unfold narrow select movedim swapaxes masked_fill masked_fill_ view_as reshape_as
    index_select gather tril triu diagonal unflatten ravel broadcast_to repeat_interleave split chunk unbind cat
    stack concat new_full pin_memory requires_grad_ nan_to_num sort fill_ copy_ zero_ squeeze_ unsqueeze_ tile
    take_along_dim take clamp bitwise_not to zeros_like ones_like full_like empty_like new_zeros new_ones
    new_empty adjoint mT T
    """.split()
)
BOOL_RESULTS = frozenset(
    """
    eq ne lt le gt ge isnan isinf isfinite isneginf isposinf isclose isin any all bool logical_and logical_or
    logical_not logical_xor greater less greater_equal less_equal not_equal signbit isreal
    """.split()
)
INT_RESULTS = frozenset(
    """
    long int argmax argmin argsort nonzero bincount count_nonzero searchsorted bucketize argwhere short byte
    char
    """.split()
)
SUMS = frozenset({"sum", "nansum", "prod", "cumsum", "cumprod"})  # of integers and booleans: integers
EXTREMES = frozenset({"max", "min", "amax", "amin", "median", "abs", "maximum", "minimum"})
PAIRS = frozenset(
    """
    topk sort kthvalue mode cummax cummin aminmax frexp slogdet qr eigh lstsq geqrf
    """.split()
)
LISTS = frozenset(
    """
    split chunk unbind tensor_split hsplit vsplit dsplit split_with_sizes unsafe_chunk unsafe_split
    """.split()
)
INTS = frozenset({"dim", "ndimension", "numel", "nelement", "element_size", "storage_offset", "get_device", "__len__"})
BOOLS = frozenset(
    """
    is_contiguous is_floating_point is_complex is_signed is_shared is_pinned is_inference is_set_to is_same_size
    has_names is_distributed is_conj is_neg
    """.split()
)
OTHERS = {
    "data_ptr": Py("int"),
    "type": Py("str"),
    "register_hook": UNKNOWN,
    "backward": NONE,
    "storage": UNKNOWN,
    "size": None,
    "untyped_storage": UNKNOWN,
    "stride": None,
    "numpy": None,
    "retain_grad": NONE,
    "apply_": None,
    "__dlpack__": UNKNOWN,
}
FLOAT_DTYPES = frozenset(f"torch.{n}" for n in ("float", "float16", "float32", "float64", "half", "double", "bfloat16"))
VALUES: dict[str, Value] = {
    "int": Py("int"),
    "bool": Py("bool"),
    "float": Py("float"),
    "str": Py("str"),
    "none": NONE,
    "shape": Sequence("size", None, ShapeInt()),
    "dtype": Py("dtype"),
    "device": Py("device"),
    "python": UNKNOWN,
    "object": UNKNOWN,
}


class TensorResults:
    """How dtype and rank carry over."""

    __slots__ = ()

    def tensor_result(self, name: str, owner: Tensor, args: list[Value], kwargs: dict[str, Value], full: str) -> Value:
        """What a tensor method, or a torch function whose first argument is a tensor, returns."""
        if name in INTS:
            if name in ("dim", "ndimension") and owner.ndim is not None:
                return Const(owner.ndim)
            return ShapeInt()
        if name in BOOLS:
            return Py("bool", "config")
        if name in ("size", "stride"):
            shape = self.shape_of(owner) if name == "size" else Sequence("tuple", None, ShapeInt())
            if (
                args
                and args[0].is_const
                and isinstance(args[0].value, int)
                and shape.items
                and -len(shape.items) <= args[0].value < len(shape.items)
            ):
                return shape.items[args[0].value]
            return ShapeInt() if args or kwargs else shape
        if name == "numpy":
            return Tensor(owner.dtype, owner.ndim, owner.shape, owner.sure, "numpy")
        if name == "type" and (args or kwargs):
            return self.cast(owner, args[0] if args else UNKNOWN)
        if name in OTHERS and OTHERS[name] is not None:
            return OTHERS[name]
        by_dim = bool(args[1 if full.startswith("torch.") else 0 :]) or "dim" in kwargs or "axis" in kwargs
        if name in ("max", "min", "median", "nanmedian") and by_dim and owner.kind != "numpy":
            other = (
                args[1 if full.startswith("torch.") else 0]
                if len(args) > (1 if full.startswith("torch.") else 0)
                else None
            )
            if other is not None and other.is_tensor:
                return Tensor(sure=owner.sure)
            return self.pair(owner, reduced_rank(owner, args[1:] if full.startswith("torch.") else args, kwargs))
        if name in PAIRS:
            return self.pair(owner, None if name in ("kthvalue", "mode", "aminmax") else owner.ndim)
        if name in LISTS:
            return self.pieces(name, owner, args, kwargs)
        if name in ("unique", "unique_consecutive"):
            extra = sum(
                1
                for k in ("return_inverse", "return_counts")
                if not kwargs.get(k, NONE).is_none and kwargs.get(k) != Const(False)
            )
            one = Tensor(owner.dtype, None, None, owner.sure)
            return Sequence("tuple", [one] + [Tensor("int", None, None, owner.sure)] * extra) if extra else one
        if name == "nonzero" and "as_tuple" in kwargs and kwargs["as_tuple"] != FALSE:
            return Sequence("tuple", None, Tensor("int", 1, None, owner.sure))
        if (
            name == "where"
            and not args[1:]
            and full.startswith("torch.")
            or name == "where"
            and not args
            and full.startswith("Tensor.")
        ):
            return Sequence("tuple", None, Tensor("int", 1, None, owner.sure))
        if name in ("to", "astype"):
            wanted = [
                v
                for v in (*args, *kwargs.values())
                if isinstance(v, External) and v.name.startswith("torch.") or isinstance(v, Tensor)
            ]
            return self.cast(owner, wanted[0]) if wanted else owner
        returned = self.returned(full)
        if returned is not None:
            return returned
        if name in ("t", "transpose", "permute") and owner.shape is not None and owner.kind == "":
            shape = tuple(reversed(owner.shape)) if name == "t" else None
            return Tensor(owner.dtype, owner.ndim, shape, owner.sure, "strided")
        of_package = full.startswith(("torch.", "numpy.")) and not full.startswith("numpy.ndarray.")
        return Tensor(
            self.result_dtype(name, owner, kwargs),
            rank_of_result(name, owner, args[1:] if of_package else args, kwargs),
            owner.shape if name in SAME_SHAPE and name not in ("transpose", "t") else None,
            owner.sure,
            "numpy" if owner.kind == "numpy" else "",
        )

    def cast(self, owner: Tensor, wanted: Value) -> Tensor:
        """The tensor under another dtype."""
        dtype = owner.dtype
        if isinstance(wanted, Tensor):
            dtype = wanted.dtype
        elif isinstance(wanted, External):
            dtype = "bool" if wanted.name == "torch.bool" else "float" if wanted.name in FLOAT_DTYPES else "int"
        elif isinstance(wanted, Py) and wanted.type == "dtype" or wanted.is_unknown:
            dtype = None if owner.dtype is None else "float"
        return Tensor(dtype, owner.ndim, owner.shape, owner.sure, owner.kind if owner.kind == "numpy" else "")

    def pair(self, owner: Tensor, rank: int | None) -> Value:
        return Sequence("tuple", [Tensor(owner.dtype, rank, None, owner.sure), Tensor("int", rank, None, owner.sure)])

    def pieces(self, name: str, owner: Tensor, args: list[Value], kwargs: dict[str, Value]) -> Value:
        rank = owner.ndim - 1 if name == "unbind" and owner.ndim else owner.ndim
        piece = Tensor(owner.dtype, rank, None, owner.sure)
        count = next((v for v in (*args, *kwargs.values()) if v.is_const and isinstance(v.value, int)), None)
        if name == "chunk" and count is not None and 0 < count.value <= 16:
            return Sequence("tuple", [piece] * count.value)
        sizes = next((v for v in (*args, *kwargs.values()) if isinstance(v, Sequence) and v.items), None)
        if name in ("split", "split_with_sizes") and sizes is not None:
            return Sequence("tuple", [piece] * len(sizes.items))
        return Sequence("tuple", None, piece)

    def result_dtype(self, name: str, owner: Tensor, kwargs: dict[str, Value]) -> str | None:
        given = kwargs.get("dtype")
        if isinstance(given, External):
            return "bool" if given.name == "torch.bool" else "float" if given.name in FLOAT_DTYPES else "int"
        if name in BOOL_RESULTS:
            return "bool"
        if name in INT_RESULTS:
            return "int"
        if name in (
            "float",
            "half",
            "double",
            "bfloat16",
            "softmax",
            "sigmoid",
            "mean",
            "exp",
            "log",
            "sqrt",
            "std",
            "var",
            "norm",
        ):
            return "float"
        if name in KEEPS_DTYPE and given is None:
            return owner.dtype
        if name in SUMS and given is None and owner.dtype in ("bool", "int"):
            return "int"
        if name in EXTREMES and given is None:
            return owner.dtype
        if owner.dtype == "float" and name not in ("sign",):
            return "float"
        return None

    def returned(self, full: str) -> Value | None:
        """What the generated table says a library call returns; None when it says nothing."""
        return VALUES.get(self.library.returns(full))
