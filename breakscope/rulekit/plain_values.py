"""The base of all abstract values, and the kinds that hold no other values: constants, tensors,
numbers.

Rules import them from `values.py`. They need no garbage collector (`gc=False`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from msgspec import Struct


class Value(Struct):
    """Base of all abstract values. The flags below are what rules read; `merge` and `key` are what
    static/machine/lattice.py joins and compares values by."""

    is_tensor: ClassVar[bool] = False  # certainly or likely a tensor
    is_none: ClassVar[bool] = False
    is_scalar: ClassVar[bool] = False  # a Python number that was read from a tensor
    is_shape: ClassVar[bool] = False  # a Python int from .shape, size(), len()
    is_const: ClassVar[bool] = False  # a Python constant with a known value
    is_number: ClassVar[bool] = False  # a Python number of any of these kinds
    is_unknown: ClassVar[bool] = False
    # of what torch.compile returned: what it was given, which has the same state
    compiled_of: ClassVar[Value | None] = None

    @property
    def original(self) -> Value:
        """What torch.compile was given, of what it returned; any other value itself."""
        return self if self.compiled_of is None else self.compiled_of

    def describe(self) -> str:
        return "a value"

    def merge(self, other: Value, join: Join, depth: int) -> Value | None:
        """One value that stands for this one and for another of the same kind on another path; None
        when a Union of both is better. `join(values, depth)` joins what they hold."""
        return self if self == other else None

    def key(self, depth: int) -> object:
        """A hashable key: two values with the same key may share one analysis of a call. What
        containers hold counts to this depth."""
        return (type(self), id(self))

    def rebuilt(self, change: Callable[[Value], Value]) -> Value:
        """A new container, `change` applied to what is in it; any other value itself."""
        return self


Join = Callable[[Iterable[Value], int], Value]


class _Unknown(Value, frozen=True, eq=False):
    is_unknown = True

    def describe(self) -> str:
        return "an unknown value"

    def merge(self, other: Value, join: Join, depth: int) -> Value | None:
        return UNKNOWN


UNKNOWN = _Unknown()
COMPARED = _Unknown()  # a comparison of what is not known: what it indexes, it masks


class Const(Value, frozen=True, gc=False):
    """A Python constant whose value is known: None, bool, int, float, str, bytes, a dtype's name,
    Ellipsis."""

    value: Any
    is_const = True

    @property
    def is_none(self) -> bool:
        return self.value is None

    @property
    def is_number(self) -> bool:
        return isinstance(self.value, int | float)

    def describe(self) -> str:
        return repr(self.value)

    def merge(self, other: Const, join: Join, depth: int) -> Value | None:
        if type(self.value) is not type(other.value):
            return None
        return self if self.value == other.value else Py(type(self.value).__name__)

    def key(self, depth: int) -> object:
        if type(self.value) not in _HASHABLE:
            try:
                hash(self.value)
            except TypeError:
                return ("c", id(self))
        return ("c", type(self.value), self.value)


_HASHABLE = frozenset({type(None), bool, int, float, str, bytes})


NONE, TRUE, FALSE = Const(None), Const(True), Const(False)


class Tensor(Value, frozen=True, gc=False):
    """A tensor. `dtype` is "bool", "int", "float" or None; `ndim` and `shape` are None when
    unknown.

    `sure` is False when it is a tensor only by an annotation, a default or the way it is used.
    `kind` is "" for a plain tensor, else "sparse", "numpy" (an ndarray traced by Dynamo),
    "parameter", "buffer", "subclass" (of a subclass of torch.Tensor), "inference" (made under
    torch.inference_mode, in the code around a region). `origin` is where it came from: "argument", "op", "attribute"; "part" for
    what an op took out of a tensor by numbers of positions; "number" for what is made of one Python number, whose value
    torch knows while Dynamo traces; "guess" for an argument that nothing but its place shows to be
    a tensor.
    """

    dtype: str | None = None
    ndim: int | None = None
    shape: tuple | None = None
    sure: bool = True
    kind: str = ""
    origin: str = "op"
    requires_grad: bool | None = None
    is_tensor = True

    @property
    def is_argument(self) -> bool:
        return self.origin in ("argument", "guess")

    @property
    def is_computed(self) -> bool:
        return self.origin in ("op", "part", "number", "numbers")

    @property
    def has_known_value(self) -> bool:
        """True where torch reads the value, as a size or an index, without a break."""
        return self.origin == "number"

    @property
    def kind_of_result(self) -> str:
        """The kind of what is computed of it: a parameter's is plain."""
        return self.kind if self.kind in ("numpy", "subclass", "inference") else ""

    def describe(self) -> str:
        return "a tensor"

    def merge(self, other: Tensor, join: Join, depth: int) -> Value | None:
        if self == other:
            return self
        return Tensor(
            self.dtype if self.dtype == other.dtype else None,
            self.ndim if self.ndim == other.ndim else None,
            self.shape if self.shape == other.shape else None,
            self.sure and other.sure,
            self.kind if self.kind == other.kind else "",
            self._origin_with(other),
            self.requires_grad if self.requires_grad == other.requires_grad else None,
        )

    def _origin_with(self, other: Tensor) -> str:
        if self.is_argument and other.is_argument and self.kind != other.kind:
            if "numpy" in (self.kind, other.kind):
                return "guess"  # it may be no tensor: `Union[np.ndarray, Tensor]`
        if self.origin == other.origin:
            return self.origin
        return "argument" if self.is_argument and other.is_argument else "op"

    def key(self, depth: int) -> object:
        return ("t", self.dtype, self.sure, self.kind)


class Scalar(Value, frozen=True, gc=False):
    """A Python number that was read from a tensor (`.item()`, `int(t)`, an element of `.tolist()`)."""

    type: str = "number"
    is_scalar = True
    is_number = True

    def describe(self) -> str:
        return "a number read from a tensor"

    def merge(self, other: Scalar, join: Join, depth: int) -> Value | None:
        return self if self.type == other.type else Scalar()

    def key(self, depth: int) -> object:
        return (Scalar,)


class ShapeInt(Value, frozen=True, gc=False):
    """A Python int that came from a tensor's shape; symbolic when Dynamo compiles for dynamic
    shapes. `is_extent` of a dimension's own size and of a number of elements, which are 0 for empty tensors only."""

    value: int | None = None
    is_extent: bool = False
    is_shape = True
    is_number = True

    def describe(self) -> str:
        return "a size"

    def merge(self, other: ShapeInt, join: Join, depth: int) -> Value | None:
        return self if self == other else ShapeInt(is_extent=self.is_extent and other.is_extent)

    def key(self, depth: int) -> object:
        return ShapeInt, self.is_extent


class Py(Value, frozen=True, gc=False):
    """A Python value of known type and unknown content: "int", "float", "bool", "str", "number",
    "dtype", "device", "function", "iterator", "range", ... Never a tensor.

    `source` is who decides it: "" (the code), "config" (an attribute or an `__init__` argument),
    "argument" (the caller of the region), "environment", "random", "draw" (a number of
    `random.uniform`, `randint` or `randrange`, which Dynamo keeps as a tensor inside the graph),
    "version" (how often a tensor was changed in place, which it keeps there too).
    `usual` is the constant that it is by default, None where there is none.
    """

    type: str
    source: str = ""
    usual: Any = None

    @property
    def is_drawn(self) -> bool:
        """True for a random number: another one each time."""
        return self.source in ("random", "draw")

    @property
    def is_number(self) -> bool:
        return self.type in ("int", "float", "number", "bool")

    def describe(self) -> str:
        if self.type in ("unknown", "object"):
            return "another value"
        return "a number" if self.type == "number" else f"a Python {self.type}"

    def merge(self, other: Py, join: Join, depth: int) -> Value | None:
        if self.type != other.type:
            return None
        if self.source == other.source:
            return self if self.usual == other.usual else Py(self.type, self.source)
        sources = (self.source, other.source)
        return Py(self.type, "draw" if "draw" in sources else self.source or other.source)

    def key(self, depth: int) -> object:
        return ("p", self.type, self.source)


BOOL = Py("bool")
# types of what NumPy computes of numbers, which is an array without dimensions while Dynamo traces
NUMPY_NUMBERS = frozenset({"numpy float", "numpy number", "numpy integer"})
MISSING = Py("missing")  # in the place of an attribute that is asked for, and not there
CONFIG = Py("unknown", "config")  # what an attribute or an argument of `__init__` decides
