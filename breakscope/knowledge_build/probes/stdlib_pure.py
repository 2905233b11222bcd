"""Calls of the standard library that only compute."""
# ruff: noqa

import abc
import array
import ast
import bisect
import calendar
import cmath
import collections
import collections.abc
import contextlib
import copy
import dataclasses
import decimal
import difflib
import enum
import fnmatch
import fractions
import functools
import heapq
import html
import inspect
import itertools
import keyword
import math
import numbers
import operator
import re
import statistics
import string
import textwrap
import types
import typing
import unicodedata
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


class Typed(typing.NamedTuple):
    a: int
    b: int = 2


class Keys(typing.TypedDict):
    a: int


point, frozen, plain, pair = Point(), Frozen(), Plain(), Pair(1, 2)
pattern = re.compile("a(b)?")
counter = collections.Counter("aab")
ordered = collections.OrderedDict(a=1, b=2)
default = collections.defaultdict(list)
double_ended = collections.deque([1, 2, 3], maxlen=5)
chain_map = collections.ChainMap({"a": 1})
reference = weakref.ref(plain)
weak_dict = weakref.WeakKeyDictionary()
weak_values = weakref.WeakValueDictionary()
weak_set = weakref.WeakSet()
namespace = types.SimpleNamespace(a=1)
proxy = types.MappingProxyType({"a": 1})
numbers_array = array.array("f", [1.0])
heap = [1, 2, 3]


def plus(a, b=1):
    return a + b


partial = functools.partial(plus, b=2)


@functools.lru_cache(maxsize=None)
def cached(n):
    return n + 1


@functools.lru_cache(maxsize=None)
def cached_tensor(t):
    return t + 1


@functools.cache
def cached_too(n):
    return n + 1


@functools.wraps(plus)
def wrapped(*args, **kwargs):
    return plus(*args, **kwargs)


@functools.singledispatch
def dispatched(a):
    return a


@dispatched.register
def _(a: int):
    return a + 1


def cases_math(x, t, k, n, p):
    math.sqrt(n)
    math.sqrt(t)
    math.sqrt(x.shape[0])
    math.log(n)
    math.log(n, 2)
    math.log2(n)
    math.log10(n)
    math.log1p(n)
    math.log(t)
    math.exp(p)
    math.exp(t)
    math.pow(n, 2)
    math.pow(t, 2)
    math.floor(p)
    math.floor(t)
    math.ceil(p)
    math.ceil(t)
    math.ceil(x.shape[0] / 2)
    math.trunc(p)
    math.prod([1, 2])
    math.prod(x.shape)
    math.sin(p)
    math.cos(p)
    math.tan(p)
    math.tanh(p)
    math.atan2(p, p)
    math.fabs(p)
    math.fmod(p, 1)
    math.gcd(4, 6)
    math.lcm(4, 6)
    math.factorial(n)
    math.comb(n, 2)
    math.isnan(p)
    math.isnan(t)
    math.isinf(p)
    math.isinf(t)
    math.isfinite(p)
    math.isclose(p, p)
    math.copysign(p, -1)
    math.hypot(p, p)
    math.degrees(p)
    math.radians(p)
    math.erf(p)
    math.gamma(p)
    math.fsum([p, p])
    math.dist([0], [1])
    math.isqrt(n)
    math.frexp(p)
    math.ldexp(p, 1)
    math.modf(p)
    math.pi  # as: math.pi
    math.inf  # as: math.inf
    cmath.sqrt(n)
    cmath.exp(1j)


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


def cases_functools(x, ts, ns, n, t):
    functools.partial(plus, 1)
    functools.partial(plus, b=1)(x)  # as: functools.partial called
    partial(x)  # as: functools.partial object called
    functools.reduce(plus, ts)
    functools.reduce(operator.mul, ns)
    functools.reduce(lambda a, b: a + b, ns, 0)
    functools.wraps(plus)
    functools.wraps(plus)(wrapped)  # as: functools.wraps applied
    functools.lru_cache(maxsize=None)
    functools.lru_cache(plus)
    functools.cmp_to_key(lambda a, b: a - b)
    sorted(ns, key=functools.cmp_to_key(lambda a, b: a - b))  # as: sorted with cmp_to_key
    functools.total_ordering(Plain)  # raises
    functools.update_wrapper(wrapped, plus)
    cached(n)  # as: function under functools.lru_cache
    cached(1)  # as: function under functools.lru_cache
    cached_tensor(t)  # as: function under functools.lru_cache
    cached_too(n)  # as: function under functools.cache
    cached.cache_clear()  # as: functools.lru_cache.cache_clear
    cached.cache_info()  # as: functools.lru_cache.cache_info
    wrapped(x)  # as: function under functools.wraps
    dispatched(n)  # as: function under functools.singledispatch


def cases_itertools(x, ts, ns, n):
    itertools.chain(ns, ns)
    list(itertools.chain(ns, ns))  # as: itertools.chain consumed
    list(itertools.chain.from_iterable([ns, ns]))  # as: itertools.chain.from_iterable consumed
    itertools.chain.from_iterable([ns, ns])
    list(itertools.product(ns, ns))  # as: itertools.product consumed
    itertools.product(ns, ns)
    list(itertools.product(ns, repeat=2))  # as: itertools.product consumed
    list(itertools.combinations(ns, 2))  # as: itertools.combinations consumed
    itertools.combinations(ns, 2)
    list(itertools.combinations_with_replacement(ns, 2))  # as: itertools.combinations_with_replacement consumed
    list(itertools.permutations(ns))  # as: itertools.permutations consumed
    itertools.permutations(ns)
    list(itertools.accumulate(ns))  # as: itertools.accumulate consumed
    list(itertools.accumulate(ts, plus))  # as: itertools.accumulate consumed
    itertools.count()
    itertools.cycle(ns)
    itertools.repeat(1, 3)
    list(itertools.repeat(1, 3))  # as: itertools.repeat consumed
    list(itertools.islice(ns, 2))  # as: itertools.islice consumed
    itertools.islice(ns, 2)
    list(itertools.zip_longest(ns, [1]))  # as: itertools.zip_longest consumed
    itertools.zip_longest(ns, [1])
    list(itertools.takewhile(lambda e: e > 1, ns))  # as: itertools.takewhile consumed
    list(itertools.dropwhile(lambda e: e > 1, ns))  # as: itertools.dropwhile consumed
    list(itertools.filterfalse(lambda e: e > 1, ns))  # as: itertools.filterfalse consumed
    list(itertools.starmap(plus, [(1, 2)]))  # as: itertools.starmap consumed
    list(itertools.compress(ns, [1, 0, 1]))  # as: itertools.compress consumed
    list(itertools.groupby(ns))  # as: itertools.groupby consumed
    itertools.groupby(ns)
    list(itertools.pairwise(ns))  # as: itertools.pairwise consumed
    itertools.pairwise(ns)
    itertools.tee(ns)


def cases_collections(x, ts, ns, d, nd, n):
    collections.OrderedDict()
    collections.OrderedDict(a=1)
    collections.OrderedDict(d)
    collections.OrderedDict([("a", x)])
    ordered.move_to_end("a")
    ordered.popitem()
    ordered.update(c=1)
    ordered["c"] = 2  # as: collections.OrderedDict.__setitem__
    collections.defaultdict(list)
    collections.defaultdict(int)
    collections.defaultdict(lambda: 0)
    collections.defaultdict(list)["a"].append(x)  # as: collections.defaultdict used
    default["a"]  # as: collections.defaultdict.__getitem__
    default["b"].append(1)  # as: collections.defaultdict appended
    collections.Counter()
    collections.Counter(ns)
    collections.Counter("aab")
    counter.most_common(1)
    counter.update("a")
    counter["a"] += 1  # as: collections.Counter increment
    collections.deque()
    collections.deque(ns)
    collections.deque(ts, maxlen=2)
    double_ended.append(1)
    double_ended.appendleft(1)
    double_ended.pop()
    double_ended.popleft()
    double_ended.extend([1])
    double_ended.rotate(1)
    double_ended.clear()
    collections.namedtuple("Other", ["a"])
    Pair(1, x)  # as: collections.namedtuple instance made
    Pair(1, x).a  # as: collections.namedtuple attribute
    pair._replace(a=2)
    pair._asdict()
    pair._fields  # as: collections.namedtuple _fields
    Pair._make([1, 2])  # as: collections.namedtuple._make
    Typed(1)  # as: typing.NamedTuple instance made
    collections.ChainMap({"a": 1})
    chain_map["a"]  # as: collections.ChainMap.__getitem__
    collections.UserDict(a=1)
    isinstance(ns, collections.abc.Sequence)  # as: isinstance of collections.abc
    isinstance(d, collections.abc.Mapping)  # as: isinstance of collections.abc
    isinstance(x, collections.abc.Iterable)  # as: isinstance of collections.abc


def cases_contextlib(x):
    contextlib.ExitStack()
    contextlib.nullcontext()
    contextlib.suppress(ValueError)
    contextlib.contextmanager(plus)
    contextlib.redirect_stdout(None)
    contextlib.closing(plain)


def cases_re(x, s):
    re.compile("a")
    re.match("a", s)
    re.search("e", s)
    re.sub("e", "a", s)
    re.findall("e", s)
    re.finditer("e", s)
    re.split("e", s)
    re.fullmatch("e", s)
    re.escape(s)
    pattern.match("ab")
    pattern.search("ab")
    pattern.sub("x", "ab")
    pattern.findall("ab")
    pattern.split("ab")
    pattern.match("ab").group(1)
    pattern.match("ab").groups()


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


def cases_operator(x, y, t, ns, ts, n, d):
    operator.add(x, y)
    operator.mul(n, 2)
    operator.itemgetter(0)
    operator.itemgetter(0)(ns)  # as: operator.itemgetter called
    sorted([(2, 1), (1, 2)], key=operator.itemgetter(0))  # as: sorted with itemgetter
    operator.attrgetter("shape")(x)  # as: operator.attrgetter called
    operator.attrgetter("shape")
    operator.methodcaller("sin")(x)  # as: operator.methodcaller called
    operator.methodcaller("sin")
    operator.matmul(x, y.T)
    operator.getitem(x, 0)
    operator.setitem(d, "a", x)
    operator.index(n)
    operator.index(t.long())
    operator.eq(x, y)
    operator.lt(n, 2)
    operator.truth(n)
    operator.truth(t)
    operator.not_(n)
    operator.not_(t)
    operator.contains(ns, 1)
    operator.is_(x, y)
    operator.iadd(x, y)
    operator.neg(x)
    operator.length_hint(ns)
    operator.concat(ns, ns)
    operator.countOf(ns, 1)
    operator.mod(n, 2)
    operator.pow(x, 2)


def cases_algorithms(x, ns, t, v):
    heapq.heappush(heap, 1)
    heapq.heappush([1], 2)
    heapq.heappop([1, 2])
    heapq.heapify(ns)
    heapq.nlargest(2, ns)
    heapq.nsmallest(2, ns)
    heapq.heappushpop([1, 2], 3)
    heapq.heapreplace([1, 2], 3)
    list(heapq.merge(ns, ns))  # as: heapq.merge consumed
    bisect.bisect([1, 2], 1)
    bisect.bisect_left([1, 2], 1)
    bisect.bisect_right([1, 2], 1)
    bisect.insort(ns, 1)
    statistics.mean(ns)
    statistics.median(ns)
    statistics.stdev(ns)
    fractions.Fraction(1, 2)
    decimal.Decimal("1.5")
    decimal.Decimal("1.5") + 1  # as: decimal arithmetic
    array.array("f", [1.0])
    numbers_array.append(1.0)
    calendar.isleap(2024)
    fnmatch.fnmatch("a", "*")
    difflib.get_close_matches("a", ["a"])
    ast.literal_eval("1")


def cases_text(x, s):
    string.ascii_letters  # as: string.ascii_letters
    string.Template("$a").substitute(a=1)
    string.capwords(s)
    textwrap.dedent("  a")
    textwrap.indent("a", " ")
    textwrap.wrap("a b", 3)
    textwrap.shorten("a b", 3, placeholder="")
    html.escape("a")
    keyword.iskeyword("if")
    unicodedata.normalize("NFC", "a")
