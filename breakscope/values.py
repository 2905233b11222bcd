"""Abstract values: what the static analyzer knows of a Python value, without running anything.

Unknown is not a tensor: a rule may speak only of what a value is known to be.
Values are cheap, immutable except for the objects that a program mutates (List, Dict, Instance), and compared by
identity unless said otherwise. Those with `unsafe_hash` are never changed: `frozen` would say so, and cost a third of
the time that the analyzer takes to make them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


class Value:
    """Base of all abstract values. The flags below are what rules ask."""

    __slots__ = ()
    is_tensor = False  # certainly or likely a tensor
    is_none = False
    is_scalar = False  # a Python number that was read from a tensor
    is_shape = False  # a Python int from .shape, size(), len()
    is_const = False  # a Python constant with a known value
    is_unknown = False

    def describe(self) -> str:
        return "a value"


class _Unknown(Value):
    __slots__ = ()
    is_unknown = True

    def describe(self) -> str:
        return "an unknown value"


UNKNOWN = _Unknown()


@dataclass(unsafe_hash=True, slots=True)
class Const(Value):
    """A Python constant whose value is known: None, bool, int, float, str, bytes, a dtype's name, Ellipsis."""

    value: Any
    is_const = True

    @property
    def is_none(self) -> bool:
        return self.value is None

    def describe(self) -> str:
        return repr(self.value)


NONE, TRUE, FALSE = Const(None), Const(True), Const(False)


@dataclass(unsafe_hash=True, slots=True)
class Tensor(Value):
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


@dataclass(unsafe_hash=True, slots=True)
class Scalar(Value):
    """A Python number that was read from a tensor (`.item()`, `int(t)`, an element of `.tolist()`)."""

    type: str = "number"
    is_scalar = True

    def describe(self) -> str:
        return "a number read from a tensor"


@dataclass(unsafe_hash=True, slots=True)
class ShapeInt(Value):
    """A Python int that came from a tensor's shape; symbolic when Dynamo compiles for dynamic shapes."""

    value: int | None = None
    is_shape = True

    def describe(self) -> str:
        return "a size"


@dataclass(unsafe_hash=True, slots=True)
class Py(Value):
    """A Python value of known type and unknown content: "int", "float", "bool", "str", "number", "dtype", "device",
    "function", "iterator", "range", ... Never a tensor.

    `source` says who decides it: "" (the code), "config" (an attribute or an `__init__` argument), "argument" (the
    caller of the region), "environment", "random", "draw" (a number of `random.uniform`, `randint` or `randrange`, which
    Dynamo keeps as a tensor inside the graph).
    """

    type: str
    source: str = ""

    def describe(self) -> str:
        return f"a Python {self.type}"


@dataclass(eq=False, slots=True)
class Sequence(Value):
    """A list, tuple, set, deque or torch.Size. `items` is None when the number of elements is unknown, and then every
    element is like `element`. `home` names the place that outlives the call: "self.history", "global SEEN",
    "default cache", or "" for a local."""

    type: str
    items: list[Value] | None
    element: Value = UNKNOWN
    home: str = ""

    def describe(self) -> str:
        return f"a {self.type}"


@dataclass(eq=False, slots=True)
class Dict(Value):
    """A dict. `items` maps the known constant keys; `element` is like every other value. `home` as for Sequence."""

    items: dict[Any, Value]
    element: Value = UNKNOWN
    open: bool = False  # there may be keys beside those in `items`
    home: str = ""

    def describe(self) -> str:
        return "a dict"


@dataclass(unsafe_hash=True, slots=True)
class External(Value):
    """A name outside the checked source: "torch.cat", "time.time", "math", "print"."""

    name: str

    def describe(self) -> str:
        return f"`{self.name}`"


@dataclass(unsafe_hash=True, slots=True)
class ExternalInstance(Value):
    """An object of a class outside the checked source: "torch.nn.LSTM", "logging.Logger", "threading.Lock"."""

    name: str
    args: tuple[Value, ...] = ()
    kwargs: tuple[tuple[str, Value], ...] = ()

    def describe(self) -> str:
        return f"a `{self.name}`"


@dataclass(eq=False, slots=True)
class Method(Value):
    """`receiver.name`, not yet called, where the receiver is no object of the checked source."""

    receiver: Value
    name: str

    def describe(self) -> str:
        return f"the method `{self.name}`"


@dataclass(eq=False, slots=True)
class Class(Value):
    """A class of the checked source; `info` is the index's record of it."""

    info: Any

    def describe(self) -> str:
        return f"the class `{self.info.name}`"


@dataclass(eq=False, slots=True)
class Function(Value):
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


@dataclass(eq=False, slots=True)
class Cell(Value):
    """A cell of a function's closure: `name` in the frame `scope` of an enclosing function."""

    scope: Any
    name: str

    def describe(self) -> str:
        return f"the closure's `{self.name}`"


@dataclass(eq=False, slots=True)
class Instance(Value):
    """An object of a class of the checked source, with the attributes that the analyzer saw being set; `version` counts
    those that other objects changed afterwards."""

    cls: Class
    attributes: dict[str, Value] = field(default_factory=dict)
    version: int = 0

    def describe(self) -> str:
        return f"a `{self.cls.info.name}`"


@dataclass(unsafe_hash=True, slots=True)
class Union(Value):
    """One of several values, depending on the path taken. Never nested, never empty."""

    options: tuple[Value, ...]

    @property
    def is_tensor(self) -> bool:
        return False  # a rule that accepts a maybe asks `maybe_tensor`

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
