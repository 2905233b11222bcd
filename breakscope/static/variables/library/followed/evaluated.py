"""What Python's own functions make of known values, in the code around a region: they are called. What is not
plain goes through them as an object that can only be handed on; whoever asks more of it ends the attempt."""

from __future__ import annotations

import ast
import io
import itertools
import operator
import re
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module

from breakscope import limits
from breakscope.rulekit.values import (
    UNKNOWN,
    Const,
    Dict,
    External,
    ExternalInstance,
    Function,
    Instance,
    Method,
    Sequence,
    Value,
)
from breakscope.static.definitions.classes import bound_to, find_member
from breakscope.static.definitions.fields import compared_fields, field_names
from breakscope.static.machine.frames import Frame, Raised
from breakscope.static.machine.machine import Machine
from breakscope.static.variables.library.folding import MISFITS, WIDE_FORMAT, constant
from breakscope.static.variables.library.followed.patterns import MATCH, RUN, as_function

CALLABLE = Function | External | Method | ExternalInstance
ORDERED = ("list", "tuple", "deque", "range", "iterator", "generator", "size", "set", "frozenset")
BUILTINS: dict[str, Callable] = {
    f.__name__: f
    for f in (sum, min, max, sorted, divmod, round, abs, ord, chr, hex, bin, oct, filter)
}
# functions of the standard library, which is imported where a program calls them
FUNCTIONS = frozenset(
    """
    itertools.accumulate itertools.takewhile itertools.dropwhile itertools.starmap itertools.zip_longest
    itertools.compress itertools.filterfalse itertools.pairwise functools.reduce
    statistics.mean statistics.median statistics.stdev bisect.bisect bisect.bisect_left bisect.bisect_right
    heapq.nsmallest heapq.nlargest math.prod math.fsum math.dist math.hypot math.isclose
    json.loads json.dumps os.path.join os.path.basename os.path.splitext
    """.split()
)


def _rows(reader: str) -> Callable:
    """A reader of `csv`'s."""

    def read(lines: Iterable[str], *args: object, **kwargs: object) -> list:
        import csv

        try:
            return [*getattr(csv, reader)(lines, *args, **kwargs)]
        except csv.Error as problem:
            raise ValueError("no rows") from problem

    return read


def _unset(name: str, default: object) -> object:
    """A variable of the environment in a run for which nobody sets any."""
    return default


OWN: dict[str, Callable] = {
    "os.environ.get": _unset,
    "os.getenv": _unset,
    "csv.reader": _rows("reader"),
    "csv.DictReader": _rows("DictReader"),
    "itertools.chain.from_iterable": itertools.chain.from_iterable,
    "itertools.groupby": lambda *a, **k: ((key, [*g]) for key, g in itertools.groupby(*a, **k)),
    "io.StringIO": lambda text: [*io.StringIO(text)],  # as it is gone over
    **{f"re.{name}": as_function(name) for name in RUN},
}
WITH_WIDTH = frozenset({"round", "json.dumps"})  # whose other arguments say how much is written
# methods that change nothing, of what is no text
METHODS = frozenset({"index", "count", "bit_length", "is_integer"})
OF_SETS = {
    "union": lambda a, b: [*a, *b],
    "intersection": lambda a, b: [x for x in a if x in b],
    "difference": lambda a, b: [x for x in a if x not in b],
    "symmetric_difference": lambda a, b: [
        *(x for x in a if x not in b),
        *(x for x in b if x not in a),
    ],
}
SET_OPERATORS = {
    ast.BitOr: "union",
    ast.BitAnd: "intersection",
    ast.Sub: "difference",
    ast.BitXor: "symmetric_difference",
}


class Opaque:
    """A value that is no plain one."""

    def __init__(self, value: Value) -> None:
        self.__value = value  # out of reach of a format that reads an attribute: "{0.value}"

    def held(self) -> Value:
        return self.__value

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Opaque) and other.held() is self.held():
            return True
        raise TypeError("nobody knows whether they are equal")

    def __hash__(self) -> int:
        return id(self.__value)

    def __bool__(self) -> bool:
        raise TypeError("nobody knows whether it is true")

    def __format__(self, spec: str) -> str:
        raise TypeError("nobody knows how it is written")

    __str__ = __repr__ = __format__


class Ordered(Opaque):
    """An object that its class compares with others."""

    def __init__(self, value: Value, is_less: Callable[[Value, Value], bool]) -> None:
        super().__init__(value)
        self.__is_less = is_less

    def __lt__(self, other: object) -> bool:
        return (
            self.__is_less(self.held(), other.held()) if type(other) is Ordered else NotImplemented
        )

    __eq__, __hash__ = Opaque.__eq__, Opaque.__hash__


class Evaluation:
    """One attempt: values to Python's objects, and back."""

    def __init__(self, machine: Machine, node: ast.AST, frame: Frame) -> None:
        self.machine, self.node, self.frame = machine, node, frame
        self.left = limits.MOST_FOLDED_ITEMS
        self.containers: dict[int, tuple[object, Value]] = {}  # by `id`: what stands for each

    def plain(self, value: Value) -> object:
        self.left -= 1
        if self.left < 0:
            raise ValueError("too many items")
        if isinstance(value, Const):
            return value.value
        if isinstance(value, Sequence) and value.items is not None and value.type in ORDERED:
            items: object = [self.plain(item) for item in value.items]
            items = tuple(items) if value.type in ("tuple", "size") else items
        elif isinstance(value, Dict) and not value.open:
            items = {key: self.plain(item) for key, item in value.items.items()}
        elif isinstance(value, Instance):
            return Ordered(value, self.is_less)
        else:
            return Opaque(value)
        if items != ():  # of which there is one for all
            self.containers[id(items)] = items, value
        return items

    def is_less(self, left: Value, right: Value) -> bool:
        """`left < right`, by the class's own method, or the fields of a dataclass that is in order."""
        by = find_member(self.machine, left.cls.info, "__lt__")
        if isinstance(by, Function):
            answer = self.machine.call(bound_to(by, left), [right], {}, self.node, self.frame)
            if isinstance(answer, Const) and type(answer.value) is bool:
                return answer.value
        elif names := compared_fields(self.machine, left.cls.info):
            sides = [
                [self.plain(side.attributes.get(name, UNKNOWN)) for name in names]
                for side in (left, right)
            ]
            return sides[0] < sides[1]
        raise TypeError("nobody knows which is less")

    def argument(self, value: Value) -> object:
        """The same of an argument, which may also be a function, or a named tuple."""
        if isinstance(value, Instance) and (names := field_names(self.machine, value)):
            return tuple(self.plain(value.attributes.get(name, UNKNOWN)) for name in names)
        if not isinstance(value, CALLABLE):
            return self.plain(value)

        def called(*args: object) -> object:
            given = [self.value(arg) for arg in args]
            return self.plain(self.machine.call(value, given, {}, self.node, self.frame))

        return called

    def value(self, found: object) -> Value:
        self.left -= 1
        if self.left < 0:
            raise ValueError("too many items")
        if isinstance(found, Opaque):
            return found.held()
        if id(found) in self.containers:
            return self.containers[id(found)][1]
        if found is None or isinstance(found, bool | int | float | complex | str | bytes):
            return constant(found)
        if isinstance(found, re.Match):
            return ExternalInstance(MATCH, tuple(map(self.value, (found[0], *found.groups()))))
        if isinstance(found, dict):
            return Dict({self.key(key): self.value(item) for key, item in found.items()})
        if not isinstance(found, Iterable):
            raise TypeError(type(found))
        kind = type(found).__name__ if isinstance(found, list | tuple) else "iterator"
        items = itertools.islice(found, limits.MOST_FOLDED_ITEMS)
        made = [self.value(item) for item in items]
        return Sequence(kind, made, is_once=isinstance(found, Iterator))

    def key(self, found: object) -> object:
        if isinstance(found, Opaque):
            raise TypeError("a key that is not known")
        hash(found)
        return found

    def result(self, function: Callable, args: list, kwargs: dict) -> Value | None:
        """What it returns; None where it needs to know more, or refuses its arguments."""
        try:
            return self.value(function(*args, **kwargs))
        except (*MISFITS, RecursionError, Raised):
            return None


def is_followed(machine: Machine, frame: Frame) -> bool:
    """True in the code around a region, which is followed as it runs."""
    return machine.driver.calls is not None and machine.driver.sets and not frame.emits


def _function(name: str) -> Callable | None:
    if name not in FUNCTIONS:
        return BUILTINS.get(name) or OWN.get(name)
    module, _, function = name.rpartition(".")
    return getattr(import_module("posixpath" if module == "os.path" else module), function)


def evaluated_call(
    machine: Machine, name: str, args: list[Value], kwargs: dict[str, Value], node, frame: Frame
) -> Value | None:
    """What a function of Python's gives for known arguments; None where that is not known."""
    function = _function(name)
    if function is None or not args or "*" in kwargs or "**" in kwargs:
        return None
    if not is_followed(machine, frame) or any(value.is_tensor for value in args):
        return None
    attempt = Evaluation(machine, node, frame)
    try:
        given = [attempt.argument(value) for value in args]
        named = {word: attempt.argument(value) for word, value in kwargs.items()}
    except ValueError:
        return None
    if name in WITH_WIDTH and not _are_small([*given[1:], *named.values()]):
        return None
    return attempt.result(function, given, named)


def evaluated_method(
    machine: Machine,
    owner: Value,
    name: str,
    args: list[Value],
    kwargs: dict[str, Value],
    node,
    frame: Frame,
) -> Value | None:
    """What a method gives that changes nothing; None where that is not known."""
    if not is_followed(machine, frame) or not isinstance(owner, Const | Sequence):
        return None
    if isinstance(owner, Sequence) and owner.type in ("set", "frozenset") and name in OF_SETS:
        return set_operation(machine, owner, name, args[0], node, frame) if len(args) == 1 else None
    attempt = Evaluation(machine, node, frame)
    try:
        receiver, given = attempt.plain(owner), [attempt.plain(value) for value in args]
        named = {word: attempt.plain(value) for word, value in kwargs.items()}
    except ValueError:
        return None
    if isinstance(receiver, str | bytes):
        is_wide = name.startswith("format") and _asks_for_width(receiver)
        if is_wide or name.startswith("_") or not _are_small([*given, *named.values()]):
            return None
    elif name not in METHODS:
        return None
    return attempt.result(lambda: getattr(receiver, name)(*given, **named), [], {})


def _are_small(given: list[object]) -> bool:
    """True where no number asks for much: digits, columns or times."""
    return all(abs(n) <= limits.MOST_FOLDED_ITEMS for n in given if isinstance(n, int))


def _asks_for_width(text: str | bytes) -> bool:
    return isinstance(text, bytes) or re.search(WIDE_FORMAT, text) is not None


def set_operation(
    machine: Machine, left: Sequence, name: str, right: Value, node, frame: Frame
) -> Value | None:
    """What an operation on two sets gives, in an order that is the same in each check."""
    if not is_followed(machine, frame):
        return None
    attempt = Evaluation(machine, node, frame)

    def joined(a: list, b: list) -> list:
        for item in (*a, *b):
            hash(item)
        return [*dict.fromkeys(OF_SETS[name](a, b))]

    try:
        made = attempt.result(joined, [attempt.plain(left), attempt.plain(right)], {})
    except ValueError:
        return None
    return Sequence("set", made.items) if isinstance(made, Sequence) else None


def evaluated_operator(
    machine: Machine, left: Value, right: Value, op: type, node, frame: Frame
) -> Value | None:
    """What an operator gives of which a side is a container, or a text; None where that is not known."""
    if not is_followed(machine, frame):
        return None
    is_set = type(left) is Sequence is type(right) and left.type == right.type == "set"
    if is_set and op in SET_OPERATORS:
        return set_operation(machine, left, SET_OPERATORS[op], right, node, frame)
    function = OPERATORS.get(op)
    if function is None or not isinstance(left, Const | Sequence):
        return None
    attempt = Evaluation(machine, node, frame)
    try:
        sides = [attempt.plain(left), attempt.plain(right)]
    except ValueError:
        return None
    if isinstance(sides[0], str) and op is ast.Mod and _asks_for_width(sides[0]):
        return None
    if op is ast.Mult and not _is_short_product(*sides):
        return None
    return attempt.result(function, sides, {})


OPERATORS = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Mod: operator.mod,
    ast.Mult: operator.mul,
}


def _is_short_product(left: object, right: object) -> bool:
    sizes = [len(side) for side in (left, right) if isinstance(side, str | bytes)]
    times = [side for side in (left, right) if isinstance(side, int)]
    is_text = len(sizes) == len(times) == 1
    return is_text and sizes[0] * times[0] <= limits.LONGEST_FOLDED_TEXT
