"""What the look knows of a value: its kind, only as fine as soundness needs.

NUMBER   a Python value that no tensor decides: a size, a constant, something out of the configuration; never text
ANSWER   the same, but perhaps what a comparison gave: the analyzer may take it for a mask
TEXT     the same, but perhaps text
NONE     None
SIZES    a sequence of NUMBERs: a shape, a tuple of ints; not changed in place
TENSOR   a tensor, or a value of which nothing is known (an argument): its truth and its value must not be asked
SURE     a tensor, and nothing else: a parameter or buffer
WHOLE    a tensor of whole numbers, or of which the analyzer does not know the type
INDEX    one that has an axis, or of which it does not know that either: it may index another tensor
GIVEN    an argument of a region: an INDEX of which it does not know how many axes it has
UNKNOWN  anything at all; it may only be thrown away
tuple    a tuple display: the kinds of its items
Many     a list, dict, nn.ModuleList or nn.Sequential, one object for each place that makes one
Data     an object of a dataclass of the file
Types    classes and library names, not called yet
Self     an object of which the methods are followed
Bound, Function   a method, a function or lambda of the file
frozenset   modules and functions that can be called: Class, Many, Bound, Function, names of library functions, LAYER,
            ANY, OUTER
"""

from __future__ import annotations

NUMBER, TEXT, NONE, SIZES, TENSOR, UNKNOWN = "number", "text", "none", "sizes", "tensor", "unknown"
SURE, WHOLE, INDEX, GIVEN, ANSWER = "sure", "whole", "index", "given", "answer"
INDICES = frozenset({INDEX, GIVEN})
TENSORS = frozenset({SURE, WHOLE, INDEX, GIVEN})
LAYER = ""  # some torch.nn layer that may be called
ANY = "?"  # what configuration passes in: the analyzer follows no call of it
OUTER = "!"  # an object of a package that nobody speaks of, and what is read of it
REST = "**"  # the key of what `**mapping` passes
STATIC = frozenset({NUMBER, ANSWER, TEXT, NONE, SIZES})  # never a tensor, nor anything that holds one


class NotPlain(Exception):
    """The look cannot say that the file is clean."""


class Clock:
    """Ticks when something is learnt that was read before; what was concluded from it must be looked at again."""

    __slots__ = ("now",)

    def __init__(self) -> None:
        self.now = 0


class Many:
    """A container; `element` is the kind of everything in it, `parts` the kinds one by one when a display makes it and
    nothing else changes its length, of a dict under their keys. `role`: "list", "dict", "modules" or "sequential".
    `is_kept` when it outlives the call: a constructor made it. Lists that one name may stand for become one."""

    __slots__ = ("_element", "_keys", "_merged", "_parts", "clock", "is_kept", "passed", "role")

    def __init__(self, role: str, is_kept: bool, clock: Clock) -> None:
        self.role = role
        self.is_kept = is_kept
        self.clock = clock
        self._element: object = NONE
        self._merged: Many | None = None
        self._parts: list | None = None
        self._keys: tuple = ()
        self.passed: dict[str, object] | None = None  # of a constructor's `**rest`: what the file's own calls pass by name

    def root(self) -> Many:
        while self._merged is not None:
            self = self._merged
        return self

    @property
    def element(self) -> object:
        return self.root()._element

    @property
    def parts(self) -> list | None:
        return self.root()._parts

    @property
    def keys(self) -> tuple:
        return self.root()._keys

    def held(self, key: object) -> object | None:
        """What a display put under a constant key; None when that is not known."""
        parts, keys = self.parts, self.keys
        return parts[keys.index(key)] if parts is not None and key in keys else None

    def widen(self, kind: object) -> Many:
        """The container, which may hold such elements too."""
        root = self.root()
        made = join(root._element, kind)
        root = root.root()  # to join the elements may merge the list with one of them
        if made != root._element or root._parts is not None:
            root._element, root._parts = made, None
            root.clock.now += 1
        return root

    def show(self, kinds: list, keys: tuple = ()) -> Many:
        """The container, which a display makes of such elements, a dict under these different keys."""
        root = self.root()
        is_new, before = root._element == NONE and root._parts is None, root._parts
        root._parts = None
        for kind in kinds:
            made = join(root._element, kind)
            root = root.root()
            is_same = made == root._element
            root._element = made
            root.clock.now += not is_same
        if is_new:
            root._parts, root._keys = kinds, keys
        elif before is not None and len(before) == len(kinds) and root._keys == keys:
            root._parts = [join(old, kind) for old, kind in zip(before, kinds)]
        root.clock.now += root._parts != before
        return root

    def merge(self, other: Many) -> Many:
        """One container for both."""
        first, second = self.root(), other.root()
        if first is not second:
            second._merged = first
            first.passed = second.passed = None
            first.is_kept = second.is_kept = first.is_kept or second.is_kept
            first.clock.now += 1
            parts, others = first._parts, second._parts
            has_same_keys = first._keys == second._keys
            first.widen(second._element)
            first = first.root()
            if parts is not None and others is not None and len(parts) == len(others) and has_same_keys:
                first._parts = [join(a, b) for a, b in zip(parts, others)]
        return first


class Data:
    """An object of a dataclass or NamedTuple of the file, whose fields are what a region's own call gave them
    (`kinds`), else what their annotations say."""

    __slots__ = ("cls", "kinds")

    def __init__(self, cls: object, kinds: dict | None = None) -> None:
        self.cls = cls
        self.kinds = kinds or {}

    def __eq__(self, other: object) -> bool:
        return type(other) is Data and other.cls is self.cls and other.kinds == self.kinds

    def __hash__(self) -> int:
        return hash(self.cls)


class Types:
    """Classes of the file, and library names ("torch.nn.Linear", "torch.relu", "math.sqrt"), as values; beside a class also
    functions of the file."""

    __slots__ = ("options",)

    def __init__(self, options: frozenset) -> None:
        self.options = options

    def __eq__(self, other: object) -> bool:
        return type(other) is Types and other.options == self.options

    def __hash__(self) -> int:
        return hash(self.options)


class Self:
    """The object whose method runs."""

    __slots__ = ("cls",)

    def __init__(self, cls: object) -> None:
        self.cls = cls


class Bound:
    """A method of `owner`, found in `cls`."""

    __slots__ = ("cls", "node", "owner")

    def __init__(self, node: object, cls: object, owner: Self) -> None:
        self.node = node
        self.cls = cls
        self.owner = owner

    def __eq__(self, other: object) -> bool:
        return type(other) is Bound and (other.node, other.cls, other.owner) == (self.node, self.cls, self.owner)

    def __hash__(self) -> int:
        return hash((self.node, self.cls, self.owner))


class Function:
    """A function or lambda of a file, one object for each place. `frame` is the running function around it, None for a
    function at the top; `names` are those of earlier ones, as they were in the end."""

    __slots__ = ("frame", "names", "node")

    def __init__(self, node: object, frame: object) -> None:
        self.node = node
        self.frame = frame
        self.names: dict | None = None


class Rest:
    """Any number of arguments of one kind: `*rest` in a call."""

    __slots__ = ("kind",)

    def __init__(self, kind: object) -> None:
        self.kind = kind


def join(a: object, b: object) -> object:
    """The kind of a value that has either kind."""
    if a is b or a == b or b == NONE:
        return a
    if a == NONE:
        return b
    if UNKNOWN in (a, b):
        return UNKNOWN
    if ANSWER in (a, b) and NUMBER in (a, b):
        return ANSWER
    if type(a) is tuple and type(b) is tuple and len(a) == len(b):
        return tuple([join(x, y) for x, y in zip(a, b)])
    a, b = settled(a), settled(b)
    if a == b:
        return a
    if type(a) is str and type(b) is str:
        return _join_words(a, b)
    if type(a) is Many and type(b) is Many and a.role == b.role:
        return a.merge(b)
    if type(a) is Types and type(b) is Types:
        return Types(a.options | b.options)
    if type(a) is Data and type(b) is Data and a.cls is b.cls and a.kinds.keys() == b.kinds.keys():
        return Data(a.cls, joined(a.kinds, b.kinds))
    return _join_callables(a, b)


def settled(kind: object) -> object:
    """A tuple display of sizes as SIZES, any other of tensors and sizes as TENSOR, and so each of TENSORS; an ANSWER as
    a NUMBER; other kinds as they are."""
    if type(kind) is not tuple:
        return kind if type(kind) is not str else TENSOR if kind in TENSORS else NUMBER if kind == ANSWER else kind
    parts = {settled(part) for part in kind if type(part) is str or type(part) is tuple}
    if len(parts) == 0 and kind or any(type(part) not in (str, tuple) for part in kind):
        return UNKNOWN
    if parts <= {NUMBER, NONE, SIZES}:
        return SIZES
    return UNKNOWN if UNKNOWN in parts or TEXT in parts else TENSOR


def _join_words(a: str, b: str) -> object:
    both = {a, b}
    if TENSOR in both:
        return UNKNOWN if TEXT in both else TENSOR
    return TEXT if TEXT in both and SIZES not in both else SIZES if both == {NUMBER, SIZES} else UNKNOWN


def _join_callables(a: object, b: object) -> object:
    if type(b) in CALLABLE:
        a, b = b, a
    if type(a) in CALLABLE:
        other = called(b)
        if other is None and type(b) is Types and type(a) is not frozenset:
            return Types(b.options | {a})
        return UNKNOWN if other is None else called(a) | other
    if SIZES in (a, b):
        other = b if a == SIZES else a
        return other.widen(NUMBER) if type(other) is Many and other.role == "list" else UNKNOWN
    if NUMBER in (a, b):
        other = b if a == NUMBER else a
        if type(other) is Types:
            return Types(other.options | {ANY})
        if type(other) is Many and other.role in ("list", "dict"):
            return other.widen(NUMBER)  # configuration may pass another list
        return other if type(other) is Data else UNKNOWN
    return UNKNOWN


def called(kind: object) -> frozenset | None:
    """The kind as something to call, None when it cannot be."""
    if type(kind) is frozenset:
        return kind
    if type(kind) is Function or type(kind) is Bound:
        return frozenset({kind})
    if type(kind) is Types:  # a function; a class that is called makes an object
        functions = [type(o) is str and not o.rpartition(".")[2][:1].isupper() for o in kind.options]
        return kind.options if all(functions) else None
    return frozenset({ANY}) if kind == NUMBER else None



def before_rest(args: list) -> int:
    """How many arguments stand before the first `*rest`."""
    return next((at for at, kind in enumerate(args) if type(kind) is Rest), len(args))


def joined(first: dict, second: dict) -> dict:
    """The kinds of names behind two paths."""
    made = dict(first)
    for name, kind in second.items():
        made[name] = join(made[name], kind) if name in made else kind
    return made


def same(first: dict, second: dict) -> bool:
    return first.keys() == second.keys() and all(k is second[name] or k == second[name] for name, k in first.items())


CALLABLE = frozenset({frozenset, Function, Bound})
