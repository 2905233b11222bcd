"""Copies, inspection, types, enums, dataclasses and typing."""
# ruff: noqa

import abc
import collections
import copy
import dataclasses
import enum
import functools
import inspect
import numbers
import types
import typing
import weakref


@dataclasses.dataclass
class Point:
    a: int = 1
    b: float = 2.0


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: int = 1


@dataclasses.dataclass
class Factory:
    items: list = dataclasses.field(default_factory=list)

    def __post_init__(self):
        self.items.append(1)


class Color(enum.Enum):
    RED = 1
    BLUE = 2


class Text(str, enum.Enum):
    A = "a"


class Number(enum.IntEnum):
    ONE = 1


class Flags(enum.Flag):
    A = 1
    B = 2


class Plain:
    def __init__(self, a=1):
        self.a = a

    def __copy__(self):
        return Plain(self.a)

    def method(self):
        return self.a


class Slotted:
    __slots__ = ("a",)

    def __init__(self):
        self.a = 1


class Base(abc.ABC):
    @abc.abstractmethod
    def run(self): ...


class Child(Base):
    def run(self):
        return 1


Pair = collections.namedtuple("Pair", ["a", "b"])


class Keys(typing.TypedDict):
    a: int


point, frozen, plain, pair = Point(), Frozen(), Plain(), Pair(1, 2)
reference = weakref.ref(plain)
weak_dict = weakref.WeakKeyDictionary()
weak_values = weakref.WeakValueDictionary()
weak_set = weakref.WeakSet()
namespace = types.SimpleNamespace(a=1)
proxy = types.MappingProxyType({"a": 1})


def plus(a, b=1):
    return a + b


@functools.wraps(plus)
def wrapped(*args, **kwargs):
    return plus(*args, **kwargs)


def cases_copy(x, ns, ts, d, nd):
    copy.copy(x)
    copy.copy(ns)
    copy.copy(ts)
    copy.copy(d)
    copy.copy(plain)
    copy.copy(point)
    copy.deepcopy(x)
    copy.deepcopy(ns)
    copy.deepcopy(ts)
    copy.deepcopy(nd)
    copy.deepcopy(point)
    copy.deepcopy({"a": [1, 2]})
    copy.deepcopy(1)


def cases_inspect(x):
    inspect.signature(plus)
    inspect.signature(plus).parameters  # as: inspect.signature parameters
    inspect.isfunction(plus)
    inspect.isclass(Plain)
    inspect.ismethod(plus)
    inspect.isbuiltin(len)
    inspect.isgeneratorfunction(plus)
    inspect.iscoroutinefunction(plus)
    inspect.getsource(plus)
    inspect.getmembers(plain)
    inspect.getfile(plus)
    inspect.getmodule(plus)
    inspect.getdoc(plus)
    inspect.getfullargspec(plus)
    inspect.currentframe()
    inspect.stack()
    inspect.getattr_static(plain, "a")
    inspect.unwrap(wrapped)


def cases_types(x, ns, n):
    types.SimpleNamespace(a=1)
    namespace.a
    namespace.a = 2
    types.MethodType(plus, plain)
    types.MappingProxyType({"a": 1})
    proxy["a"]  # as: types.MappingProxyType.__getitem__
    types.FunctionType(plus.__code__, {})
    types.new_class("New")
    types.ModuleType("m")
    isinstance(plus, types.FunctionType)  # as: isinstance of types.FunctionType
    weakref.ref(plain)
    reference()  # as: weakref.ref called
    weakref.proxy(plain)
    weakref.WeakKeyDictionary()
    weak_dict.get(plain)
    weak_dict[plain] = 1  # as: weakref.WeakKeyDictionary.__setitem__
    weak_values.get("a")
    weak_set.add(plain)
    weakref.finalize(plain, abs, 1)
    Color.RED  # as: enum member
    Color.RED.value  # as: enum value
    Color.RED.name  # as: enum name
    Color(1)  # as: enum call
    Color["RED"]  # as: enum index
    Color.RED == Color.BLUE  # as: enum compare
    Color.RED is Color.BLUE  # as: enum is
    list(Color)  # as: enum list
    Color.RED in (Color.RED,)  # as: enum in
    Text.A == "a"  # as: str enum compare
    Text("a")  # as: str enum call
    Number.ONE + 1  # as: IntEnum arithmetic
    Flags.A | Flags.B  # as: enum.Flag or
    Flags.A in Flags.B  # as: enum.Flag in
    enum.auto()
    enum.Enum("New", "A B")
    Plain()  # as: plain class made
    Plain().method()  # as: plain class method
    Slotted()  # as: slotted class made
    Child()  # as: abstract class made
    isinstance(plain, Base)  # as: isinstance of abc
    isinstance(n, numbers.Number)  # as: isinstance of numbers.Number
    isinstance(n, numbers.Integral)  # as: isinstance of numbers.Integral
    isinstance(x, numbers.Number)  # as: isinstance of numbers.Number
    abc.abstractmethod(plus)


def cases_dataclasses(x):
    Point()  # as: dataclass made
    Point(a=x)  # as: dataclass made
    Frozen()  # as: frozen dataclass made
    Factory()  # as: dataclass with default_factory made
    dataclasses.replace(point, a=2)
    dataclasses.replace(Point(), a=2)
    dataclasses.asdict(point)
    dataclasses.astuple(point)
    dataclasses.fields(point)
    dataclasses.is_dataclass(point)
    dataclasses.field(default=1)
    dataclasses.make_dataclass("New", ["a"])
    dataclasses.dataclass(Plain)
    point == Point()  # as: dataclass compare
    point.a
    point.a = 2


def cases_typing(x, n):
    typing.cast(int, n)
    typing.cast("Tensor", x)
    typing.get_type_hints(plus)
    typing.get_origin(typing.List[int])
    typing.get_args(typing.List[int])
    typing.List[int]  # as: typing.List[int]
    typing.Optional[int]  # as: typing.Optional[int]
    typing.TypeVar("T")
    typing.TYPE_CHECKING  # as: typing.TYPE_CHECKING
    typing.NamedTuple("New", [("a", int)])
    typing.assert_never  # as: typing.assert_never
    typing.overload(plus)
    Keys(a=1)  # as: typing.TypedDict made
