"""Abstract values: what the static analyzer knows of a Python value, without running anything.

Unknown is not a tensor: a rule may speak only of what a value is known to be.
Values are cheap, immutable except for the objects that a program mutates (List, Dict, Instance), and compared by
identity unless they are frozen. Those that hold no other values need no garbage collector (`gc=False`).
"""

from __future__ import annotations

from typing import Any, ClassVar

from msgspec import Struct


class Value(Struct):
    """Base of all abstract values. The flags below are what rules ask."""

    is_tensor: ClassVar[bool] = False  # certainly or likely a tensor
    is_none: ClassVar[bool] = False
    is_scalar: ClassVar[bool] = False  # a Python number that was read from a tensor
    is_shape: ClassVar[bool] = False  # a Python int from .shape, size(), len()
    is_const: ClassVar[bool] = False  # a Python constant with a known value
    is_unknown: ClassVar[bool] = False

    def describe(self) -> str:
        return "a value"


class _Unknown(Value, frozen=True, eq=False):
    is_unknown = True

    def describe(self) -> str:
        return "an unknown value"


UNKNOWN = _Unknown()
COMPARED = _Unknown()  # a comparison of what is not known: what it indexes, it masks


class Const(Value, frozen=True, gc=False):
    """A Python constant whose value is known: None, bool, int, float, str, bytes, a dtype's name, Ellipsis."""

    value: Any
    is_const = True

    @property
    def is_none(self) -> bool:
        return self.value is None

    def describe(self) -> str:
        return repr(self.value)


NONE, TRUE, FALSE = Const(None), Const(True), Const(False)


class Tensor(Value, frozen=True, gc=False):
    """A tensor. `dtype` is "bool", "int", "float" or None; `ndim` and `shape` are None when unknown.

    `sure` is False when only an annotation, a default or the way it is used says that it is a tensor.
    `kind` is "" for a plain tensor, else "sparse", "numpy" (an ndarray traced by Dynamo), "parameter", "buffer".
    `origin` says where it came from: "argument", "op", "attribute".
    """

    dtype: str | None = None
    ndim: int | None = None
    shape: tuple | None = None
    sure: bool = True
    kind: str = ""
    origin: str = "op"
    requires_grad: bool | None = None
    is_tensor = True

    def describe(self) -> str:
        return "a tensor"


class Scalar(Value, frozen=True, gc=False):
    """A Python number that was read from a tensor (`.item()`, `int(t)`, an element of `.tolist()`)."""

    type: str = "number"
    is_scalar = True

    def describe(self) -> str:
        return "a number read from a tensor"


class ShapeInt(Value, frozen=True, gc=False):
    """A Python int that came from a tensor's shape; symbolic when Dynamo compiles for dynamic shapes."""

    value: int | None = None
    is_shape = True

    def describe(self) -> str:
        return "a size"


class Py(Value, frozen=True, gc=False):
    """A Python value of known type and unknown content: "int", "float", "bool", "str", "number", "dtype", "device",
    "function", "iterator", "range", ... Never a tensor.

    `source` says who decides it: "" (the code), "config" (an attribute or an `__init__` argument), "argument" (the
    caller of the region), "environment", "random", "draw" (a number of `random.uniform`, `randint` or `randrange`, which
    Dynamo keeps as a tensor inside the graph). `usual` is the constant that it is by default, None where there is none.
    """

    type: str
    source: str = ""
    usual: Any = None

    def describe(self) -> str:
        return f"a Python {self.type}"


BOOL = Py("bool")


class Sequence(Value, eq=False):
    """A list, tuple, set, deque or torch.Size. `items` is None when the number of elements is unknown, and then every
    element is like `element`. `home` names the place that outlives the call: "self.history", "global SEEN",
    "default cache", or "" for a local. `names` are those of an nn.Sequential's modules, in their order."""

    type: str
    items: list[Value] | None
    element: Value = UNKNOWN
    home: str = ""
    names: tuple[str, ...] = ()

    def describe(self) -> str:
        return f"a {self.type}"


class Dict(Value, eq=False):
    """A dict. `items` maps the known constant keys; `element` is like every other value. `home` as for Sequence."""

    items: dict[Any, Value]
    element: Value = UNKNOWN
    open: bool = False  # there may be keys beside those in `items`
    home: str = ""

    def describe(self) -> str:
        return "a dict"


class External(Value, frozen=True, gc=False):
    """A name outside the checked source: "torch.cat", "time.time", "math", "print"."""

    name: str

    def describe(self) -> str:
        return f"`{self.name}`"


class ExternalInstance(Value, frozen=True):
    """An object of a class outside the checked source: "torch.nn.LSTM", "logging.Logger", "threading.Lock"."""

    name: str
    args: tuple[Value, ...] = ()
    kwargs: tuple[tuple[str, Value], ...] = ()

    def describe(self) -> str:
        return f"a `{self.name}`"


class Method(Value, eq=False):
    """`receiver.name`, not yet called, where the receiver is no object of the checked source."""

    receiver: Value
    name: str

    def describe(self) -> str:
        return f"the method `{self.name}`"


class Class(Value, eq=False):
    """A class of the checked source; `info` is the index's record of it."""

    info: Any

    def describe(self) -> str:
        return f"the class `{self.info.name}`"


class Function(Value, eq=False):
    """A function or lambda of the checked source, bound to `bound` when it is a method; `scope` is its closure.

    `args` and `kwargs` are what functools.partial already gave it.
    """

    info: Any
    bound: Value | None = None
    scope: Any = None
    args: tuple[Value, ...] = ()
    kwargs: tuple[tuple[str, Value], ...] = ()

    def describe(self) -> str:
        return f"the function `{self.info.name}`"


class Cell(Value, eq=False):
    """A cell of a function's closure: `name` in the frame `scope` of an enclosing function."""

    scope: Any
    name: str

    def describe(self) -> str:
        return f"the closure's `{self.name}`"


class Code(Value, eq=False):
    """The code object of a function of the checked source; `info` as a function has it."""

    info: Any

    def describe(self) -> str:
        return f"the code of `{self.info.name}`"


class Instance(Value, eq=False):
    """An object of a class of the checked source, with the attributes that the analyzer saw being set; `version` counts
    those that other objects changed afterwards."""

    cls: Class
    attributes: dict[str, Value] = {}
    version: int = 0

    def describe(self) -> str:
        return f"a `{self.cls.info.name}`"


class Union(Value, frozen=True):
    """One of several values, depending on the path taken. Never nested, never empty, and no tensor: a rule that accepts a
    maybe asks `maybe_tensor`."""

    options: tuple[Value, ...]

    def describe(self) -> str:
        return " or ".join(dict.fromkeys(o.describe() for o in self.options))


def options(value: Value) -> tuple[Value, ...]:
    """The alternatives of a value: itself unless it is a Union."""
    return value.options if type(value) is Union else (value,)


def maybe_tensor(value: Value) -> bool:
    """True when some path makes this value a tensor."""
    return any(o.is_tensor for o in options(value))


def holds_tensor(value: Value, depth: int = 3) -> bool:
    """True when the value is a tensor or a container with a tensor somewhere inside."""
    if depth == 0:
        return False
    for option in options(value):
        if option.is_tensor:
            return True
        if isinstance(option, Sequence):
            inside = option.items if option.items is not None else [option.element]
        elif isinstance(option, Dict):
            inside = [*option.items.values(), option.element]
        else:
            continue
        if any(holds_tensor(v, depth - 1) for v in inside):
            return True
    return False
