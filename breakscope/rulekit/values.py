"""Abstract values: what is known of a Python value without running anything.

Unknown is not a tensor: a rule may speak only of what a value is known to be. Values are cheap,
immutable except for the objects that a program mutates (Sequence, Dict, Instance), and compared by
identity unless they are frozen. Here stand containers, names, classes, functions and objects; the
kinds that hold no other values come from `plain_values.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from breakscope import limits
from breakscope.rulekit.plain_values import (  # noqa: F401  all kinds are imported from here
    BOOL,
    COMPARED,
    CONFIG,
    FALSE,
    MISSING,
    NONE,
    NUMPY_NUMBERS,
    TRUE,
    UNKNOWN,
    Const,
    Join,
    Py,
    Scalar,
    ShapeInt,
    Tensor,
    Value,
)


class Sequence(Value, eq=False):
    """A list, tuple, set, deque or torch.Size. `items` is None when the number of elements is
    unknown, and then every element is like `element`. `home` names the place that outlives the
    call: "self.history", "global SEEN", "default cache", or "" for a local. `names` are those of an
    nn.Sequential's modules, in their order."""

    type: str
    items: list[Value] | None
    element: Value = UNKNOWN
    home: str = ""
    names: tuple[str, ...] = ()
    compiled_of: Value | None = None
    is_once: bool = False  # an iterator, or a view of a dict, that Dynamo must see made
    # of an iterator that Dynamo cannot make anew behind a break: where a break skips the function, "loop" for loops and
    # comprehensions over it, "call" for these and for a call that it is handed to
    unmade: str = ""
    # a list that Dynamo has from a constant's method, in this activation (its id) behind so many of its steps
    folded_at: tuple[int, int] | None = None
    is_uncounted: bool = False  # a test that is not decided says which of `items` there are

    def describe(self) -> str:
        return f"a {self.type}"

    def merge(self, other: Sequence, join: Join, depth: int) -> Value | None:
        if self.type != other.type or self.home != other.home:
            return None
        if depth >= limits.DEEPEST_JOIN:
            return Sequence(self.type, None, UNKNOWN, self.home)
        items, others = self.items, other.items
        if items is not None and others is not None and len(items) == len(others):
            joined = [join(pair, depth + 1) for pair in zip(items, others)]
            return Sequence(self.type, joined, home=self.home)
        short = items and others and len(items) + len(others) <= limits.MOST_ITEMS_OF_TWO_TUPLES
        if short and self.type == "tuple" and not self.home:
            return None  # what is at an index is known for each
        # an empty one says nothing of what the other holds, unless others fill it
        filled = [value for value in (self, other) if value.items != [] or value.home]
        element = join([value.any_item(join, depth + 1) for value in filled], depth + 1)
        return Sequence(self.type, None, element, self.home)

    @property
    def inside(self) -> list[Value]:
        """Its items, or one that each is like."""
        return self.items if self.items is not None else [self.element]

    def any_item(self, join: Join, depth: int = 0) -> Value:
        """What every element is like."""
        return self.element if self.items is None else join(self.items, depth)

    def key(self, depth: int) -> object:
        kind = self.type if self.folded_at is None else f"constant {self.type}"
        kind = f"uncounted {kind}" if self.is_uncounted else kind
        if depth == 0:
            return ("s", kind)
        if self.items is None:
            return ("s", kind, self.home, self.element.key(depth - 1))
        if len(self.items) > limits.MOST_ITEMS_IN_KEY:
            return ("s", kind, self.home, len(self.items))
        return ("s", kind, self.home, *[item.key(depth - 1) for item in self.items])

    def rebuilt(self, change: Callable[[Value], Value]) -> Value:
        items = [change(item) for item in self.items] if self.items is not None else None
        return Sequence(self.type, items, change(self.element), is_once=self.is_once)


class Dict(Value, eq=False):
    """A dict. `items` maps the known constant keys; `element` is like every other value. `home` as
    for Sequence."""

    items: dict[Any, Value]
    element: Value = UNKNOWN
    open: bool = False  # there may be keys beside those in `items`
    home: str = ""
    is_ordered: bool = False  # an OrderedDict
    is_uncounted: bool = False  # as of a Sequence

    def describe(self) -> str:
        return "a dict"

    def merge(self, other: Dict, join: Join, depth: int) -> Value | None:
        if self.home != other.home:
            return None
        if depth >= limits.DEEPEST_JOIN:
            return Dict({}, UNKNOWN, True, self.home)
        items = {
            key: join((value, other.items[key]), depth + 1)
            for key, value in self.items.items()
            if key in other.items
        }
        rest = [value for key, value in self.items.items() if key not in other.items]
        rest += [value for key, value in other.items.items() if key not in self.items]
        return Dict(items, join((self.element, other.element, *rest), depth + 1), True, self.home)

    def key(self, depth: int) -> object:
        if depth == 0 or len(self.items) > limits.MOST_ENTRIES_IN_KEY:
            return ("d", id(self))
        items = tuple([(key, value.key(depth - 1)) for key, value in self.items.items()])
        return ("d", self.home, self.open, self.is_uncounted, items)

    def rebuilt(self, change: Callable[[Value], Value]) -> Value:
        items = {key: change(value) for key, value in self.items.items()}
        return Dict(items, change(self.element), self.open, is_ordered=self.is_ordered)


class External(Value, frozen=True, gc=False):
    """A name outside the checked source: "torch.cat", "time.time", "math", "print"."""

    name: str

    def describe(self) -> str:
        return f"`{self.name}`"

    def key(self, depth: int) -> object:
        return ("e", self.name)


class ExternalInstance(Value, frozen=True):
    """An object of a class outside the checked source: "torch.nn.LSTM", "logging.Logger",
    "threading.Lock". Not `sure` where only its use tells of which class it is. `exists`: a context
    that was made before the region began."""

    name: str
    args: tuple[Value, ...] = ()
    kwargs: tuple[tuple[str, Value], ...] = ()
    sure: bool = True
    exists: bool = False
    compiled_of: Value | None = None

    def describe(self) -> str:
        return f"a `{self.name}`"

    def key(self, depth: int) -> object:
        return ("x", id(self))


class Method(Value, eq=False):
    """`receiver.name`, not yet called, where the receiver is no object of the checked source."""

    receiver: Value
    name: str

    def describe(self) -> str:
        return f"the method `{self.name}`"

    def merge(self, other: Method, join: Join, depth: int) -> Value | None:
        return self if self.name == other.name and self.receiver is other.receiver else None

    def key(self, depth: int) -> object:
        return ("m", self.name, self.receiver.key(depth))


class Class(Value, eq=False):
    """A class of the checked source; `info` is the index's record of it. `is_alias` is True for what
    `Box[Tensor]` gives, which makes what `Box` does."""

    info: Any
    is_alias: bool = False

    def describe(self) -> str:
        return f"the class `{self.info.name}`"

    def merge(self, other: Class, join: Join, depth: int) -> Value | None:
        return self if self.info is other.info and self.is_alias == other.is_alias else None

    def key(self, depth: int) -> object:
        return ("k", id(self.info), self.is_alias)


class Function(Value, eq=False):
    """A function or lambda of the checked source, bound to `bound` when it is a method; `scope` is
    its closure.

    `args` and `kwargs` are what functools.partial already gave it.
    """

    info: Any
    bound: Value | None = None
    scope: Any = None
    args: tuple[Value, ...] = ()
    kwargs: tuple[tuple[str, Value], ...] = ()
    # what its closure held when the code around a region handed it over, as far as its body reads it
    held: tuple[tuple[str, Value], ...] = ()
    compiled_of: Value | None = None

    def describe(self) -> str:
        return f"the function `{self.info.name}`"

    def merge(self, other: Function, join: Join, depth: int) -> Value | None:
        same = self.info is other.info and self.bound is other.bound and self.scope is other.scope
        compiled = self if other.compiled_of is None else other
        return compiled if same and self.args == other.args else None

    def key(self, depth: int) -> object:
        given = tuple([value.key(depth) for value in self.args])
        return ("f", id(self.info), id(self.bound), id(self.scope), given)


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
    """An object of a class of the checked source, with the attributes that the analyzer saw being
    set; `version` counts those that other objects changed afterwards."""

    cls: Class
    attributes: dict[str, Value] = {}
    version: int = 0
    compiled_of: Value | None = None

    def describe(self) -> str:
        return f"a `{self.cls.info.name}`"

    def key(self, depth: int) -> object:
        known = self.original
        return ("i", id(known), known.version)


class Union(Value, frozen=True):
    """One of several values, depending on the path taken. Never nested, never empty, and no tensor:
    a rule that accepts a maybe calls `maybe_tensor`. `conditions` are, for each option, the source
    text of the test under which the value is that one, "" where there is none; empty when there is
    none for any."""

    options: tuple[Value, ...]
    conditions: tuple[str, ...] = ()

    def describe(self) -> str:
        return " or ".join(dict.fromkeys(o.describe() for o in self.options))

    def key(self, depth: int) -> object:
        keys = [option.key(depth) for option in self.options]
        return ("u", frozenset(zip(keys, self.conditions) if self.conditions else keys))


def int_of(value: Value | None) -> int | None:
    """The number that a constant is, where that is an int and no bool."""
    return value.value if isinstance(value, Const) and type(value.value) is int else None


def is_plain_value(value: Value) -> bool:
    """A number, a text, None: what Dynamo compares before and after a subgraph."""
    return value.is_const or value.is_shape or isinstance(value, Py)


def options(value: Value) -> tuple[Value, ...]:
    """The alternatives of a value: itself unless it is a Union."""
    return value.options if type(value) is Union else (value,)


def condition_of(value: Value, wanted: Callable[[Value], bool]) -> str:
    """The test under which a value is one that is `wanted`; "" where none is needed, or known."""
    if type(value) is not Union or not value.conditions:
        return ""
    found = [c for o, c in zip(value.options, value.conditions) if wanted(o)]
    return found[0] if len(found) == 1 else ""


def maybe_tensor(value: Value) -> bool:
    """True when some path makes this value a tensor."""
    return any(o.is_tensor for o in options(value))


def holds_tensor(value: Value) -> bool:
    """True when the value is a tensor or a container with a tensor somewhere inside."""
    inside, seen = options(value), set()
    for _ in range(limits.DEEPEST_TENSOR_SEARCH):
        containers = []
        for option in inside:
            if option.is_tensor:
                return True
            kind = type(option)
            if (kind is Sequence or kind is Dict) and id(option) not in seen:
                seen.add(id(option))
                containers.append(option)
        if not containers:
            return False
        inside = [
            o for container in containers for part in _parts(container) for o in options(part)
        ]
    return False


def _parts(container: Sequence | Dict) -> list[Value]:
    if type(container) is Dict:
        return [*container.items.values(), container.element]
    return container.inside


def holds_modules(value: Value) -> bool:
    """True for a list of modules as torch keeps it."""
    return getattr(value, "type", "") in ("ModuleList", "Sequential")


def counts_modules(value: Value) -> bool:
    """True for what `enumerate` makes of modules, or the like: rows that end with one."""
    rows = value.items or (value.element,) if isinstance(value, Sequence) else ()
    last = [row.items[-1] for row in rows if isinstance(row, Sequence) and row.items]
    return any(isinstance(item, Instance | ExternalInstance) for item in last)
