"""functools, itertools, collections, contextlib and text."""
# ruff: noqa

import collections
import collections.abc
import contextlib
import dataclasses
import functools
import html
import itertools
import keyword
import operator
import re
import string
import textwrap
import typing
import unicodedata


@dataclasses.dataclass
class Point:
    a: int = 1
    b: float = 2.0


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: int = 1


class Plain:
    def __init__(self, a=1):
        self.a = a

    def __copy__(self):
        return Plain(self.a)

    def method(self):
        return self.a


Pair = collections.namedtuple("Pair", ["a", "b"])


class Typed(typing.NamedTuple):
    a: int
    b: int = 2


point, frozen, plain, pair = Point(), Frozen(), Plain(), Pair(1, 2)
pattern = re.compile("a(b)?")
counter = collections.Counter("aab")
ordered = collections.OrderedDict(a=1, b=2)
default = collections.defaultdict(list)
double_ended = collections.deque([1, 2, 3], maxlen=5)
chain_map = collections.ChainMap({"a": 1})


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
    # as: itertools.combinations_with_replacement consumed
    list(itertools.combinations_with_replacement(ns, 2))
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
    pair._replace(a=2)  # as: collections.namedtuple._replace
    pair._asdict()  # as: collections.namedtuple._asdict
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
