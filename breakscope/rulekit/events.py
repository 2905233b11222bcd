"""Events: facts about code that may matter to a compiled region. Events do not depend on rules.

The interpreter emits them only for code that Dynamo would trace. Every event carries the abstract
values involved; `node` is the `ast` node it stands at, and `text(node)` its source.
"""

from __future__ import annotations

import ast
from typing import Any, ClassVar

from msgspec import Struct
from msgspec.structs import replace

from breakscope import limits
from breakscope.report.model import CONFIDENCES
from breakscope.rulekit.problem import Problem
from breakscope.rulekit.values import UNKNOWN, Dict, Value, counts_modules, holds_modules
from breakscope.texts import middle_out

LEFT, CHOSEN = 1, 2  # how it is undecided whether code runs, see Event


def weaker(certainty: str, other: str) -> str:
    """The less sure of two."""
    return certainty if certainty == other else max(certainty, other, key=CONFIDENCES.index)


class Event(Struct, frozen=True, kw_only=True):
    """What every event has.

    `certainty`: "certain" when the values are known from the code, "likely" when an annotation or the way a value
    is used says so, "possible" when it is a guess or an earlier break in the same frame hides it. `at_most`: as
    sure as it is that this code runs; no problem of the event is surer. `skips`: "loop", "try", "with",
    "comprehension" when a break here loses the whole frame, else "". `condition`: source text of the configuration
    test that decides whether this code runs, or "". `caught`: an exception raised here is caught inside the region.
    `undecided`: CHOSEN where a condition that is not known decides whether this code runs, LEFT where the function
    may have returned before, else 0. `within`: "checkpoint", "hook" or "backward" when this code runs as a subgraph
    of its own: under `torch.utils.checkpoint.checkpoint`, as a tensor's hook, as the backward of an
    autograd.Function.
    """

    node: ast.AST
    source: str = ""  # source text of `node`
    function: str = ""
    certainty: str = "certain"
    at_most: str = "certain"
    skips: str = ""
    condition: str = ""
    caught: bool = False
    undecided: int = 0
    within: str = ""
    # matters only where a break loses the frame that it stands in
    only_when_skipped: ClassVar[bool] = False

    @property
    def shown(self) -> str:
        """The source of `node`, short enough for a message."""
        return middle_out(self.source, limits.LONGEST_SNIPPET)

    def problem(
        self,
        message: str,
        help: str = "",
        certainty: str | None = None,
        node: ast.AST | None = None,
        fixable: bool = True,
        skips: str = "",
        dynamo: tuple[str, ...] = (),
        once: object = None,
        condition: str = "",
        setting: str = "",
        dtype: str = "",
        guarded: bool = False,
        reads: Value | None = None,
        late: bool = False,
        apart: bool = False,
        of_input: Value | None = None,
        whole: bool = False,
    ) -> Problem:
        """What a rule yields: `message` names the user's variable, `help` says what to write
        instead; both one line.

        `node` moves the finding to another ast node of the same function. With `fixable` False the rule's rewrite
        is not called: the values say that it would be wrong here. `skips` ("call", "with") says that Dynamo cannot
        resume behind this break, whatever stands around it, so that the whole frame is skipped. `dynamo` are the
        ids that this break has, where they are not the rule's. `once` is what the problem is about (hashable),
        where only its first time in a function is one. `condition` is the source of a test without which there is
        none. `setting` is the one of `torch._dynamo.config` under which Dynamo keeps this in the graph: a file that
        sets it has no such problem. `dtype` ("bool", "int", "float") is what the flagged tensor holds, for the
        rewrite; `guarded` that Dynamo guards on its value where the setting is on: then it may decide what Python
        does. `reads` is a whole number in a tensor that torch reads here: from the next graph on it is an input,
        and torch reads it without a break. `late` says that the graph ends where this leaves it: not in a loop in
        which another break comes first. `apart` that it also ends where Python makes the call, as Dynamo then
        begins with what is called. `of_input` is a tensor of the region of which this is a problem only from the
        next graph on, where it is an input. `whole` says to the rewrite that the flagged mask
        has as many dimensions as what it indexes.
        """
        return Problem(
            message,
            help,
            weaker(certainty or self.certainty, self.at_most),
            node or self.node,
            fixable,
            self.skips or skips,
            dynamo,
            once,
            condition=condition,
            setting=setting,
            dtype=dtype,
            guarded=guarded,
            reads=reads,
            late=late,
            apart=apart,
            of_input=of_input,
            whole=whole,
        )

    def graph_break(self, brief: str, *arguments: Any, **named: Any) -> Problem:
        """A problem that ends the graph: `brief` is its message without these words. All else as for `problem`."""
        problem = self.problem(f"{brief}, so the graph ends here", *arguments, **named)
        return replace(problem, brief=brief)


class Branch(Event, frozen=True, kw_only=True):
    """Python tests the truth of a value. `node` is the tested expression (the operand, for and/or/not).

    `construct`: "if", "elif", "while", "ternary", "and", "or", "not", "assert", "comprehension", "match", "any",
    "all", "filter", "chained" (a chained comparison: `node` is the whole comparison). For an assert, `message` is the
    value of its message (UNKNOWN when there is none) and `literal_message` is False when the message is anything but
    a constant in the bytecode: an f-string with a placeholder, a name, a call.
    """

    test: Value
    construct: str
    message: Value = UNKNOWN
    has_message: bool = False
    literal_message: bool = True
    raises: bool = False  # the branch's body only raises or warns
    condition_source: str = ""  # with a `not` around `node`: the source from that `not` on

    @property
    def written(self) -> str:
        """What is tested, as the source has it."""
        return self.condition_source or self.source


class ScalarRead(Event, frozen=True, kw_only=True):
    """A Python number (or bool, or list of them) is read from a tensor's values.

    `how`: "item", "tolist", "int", "float", "bool", "complex", "round", "index" (a Python sequence indexed by a
    tensor), "slice" (a slice bound), "range", "contains" (`in`), "format" (a format spec), "math" (math.* of a
    tensor), "size" (a size argument such as torch.zeros(n_tensor)), "draw" (what needs the value of a random number
    that Dynamo keeps in the graph; "slice by draw"; `value` is that number). `value` is the tensor, `expression` its
    source text.
    """

    value: Value
    how: str
    expression: str = ""

    @property
    def is_guarded(self) -> bool:
        """True for whole numbers that are an input of the region: with `capture_scalar_outputs` Dynamo
        guards on each that it reads by `.item()`, so that it may decide what Python does."""
        value = self.value
        return value.is_tensor and value.origin == "argument" and value.dtype == "int"


class Call(Event, frozen=True, kw_only=True):
    """A call of something outside the checked source, under its canonical dotted name.

    "torch.nonzero", "torch.nn.functional.relu", "Tensor.nonzero" (method of a tensor; `receiver` is the tensor),
    "print", "time.time", "logging.Logger.info", "torch.nn.LSTM.forward" (a library module called),
    "numpy.random.beta", "torch.optim.SGD.step", "deque.rotate" (a method of a container). What Python calls without
    a call in the source has a name as well: "type.__setattr__", "function.__setattr__", "os.environ.__setitem__",
    "descriptor.__get__", "torch.autograd.Function.apply" (`receiver` is the class, of the checked source), "call of
    a skipped package", "object of a skipped package gone over" (`receiver` is its function or class).
    """

    name: str
    receiver: Value | None = None
    args: tuple[Value, ...] = ()
    kwargs: dict[str, Value]
    result: Value | None = None  # of a function that Dynamo leaves to Python
    # what the receiver, else the first argument, derives from, where rules need it: classes of
    # the checked source (`node` is the statement), names of others
    classes: tuple[Any, ...] = ()
    bases: tuple[str, ...] = ()

    def argument(self, position: int, keyword: str) -> Value | None:
        """The argument at `position` (the receiver not counted) or under `keyword`; None when not given."""
        if keyword in self.kwargs:
            return self.kwargs[keyword]
        return self.args[position] if position < len(self.args) else None


class Enter(Event, frozen=True, kw_only=True):
    """A `with` on something outside the checked source: `name` as for Call ("torch.no_grad", "threading.Lock"); or on
    an object of a class of the source that exists when the region begins: `name` is then the class's, and `exists`
    true. `behind_break`: the region makes the object, and rules receive the event only where a break between that and
    the `with` leaves it to Python."""

    name: str
    value: Value
    args: tuple[Value, ...] = ()
    kwargs: dict[str, Value]
    exists: bool = False
    behind_break: bool = False


class Index(Event, frozen=True, kw_only=True):
    """`container[index]` where a tensor is indexed by a tensor. `store`: "" for a read, "=" or an
    operator as "+=".

    `dtype` is that of the index tensor: "bool" makes the result's shape depend on data.
    """

    container: Value
    index: Value
    store: str = ""
    value: Value = UNKNOWN  # what is stored


class Format(Event, frozen=True, kw_only=True):
    """A value becomes text: `construct` is "fstring", "str", "repr", "percent", "format", "print";
    "key" when the text of a tensor is the key of a dict that is built, "used" where something else than
    printing is done with such a text (`value` is the text)."""

    value: Value
    construct: str


class Store(Event, frozen=True, kw_only=True):
    """An attribute, global or nonlocal is set inside the region.

    `owner`: "self" or the source of the owner; `name` the attribute or variable; `scope`
    "attribute", "global", "nonlocal" (a variable of a function that ran before the region),
    "enclosing" (of one that runs in it), "tensor" (an attribute of a tensor such as requires_grad,
    data, grad) or "restored" (whatever it was, a later store undoes it). `reads_itself` is True for
    `self.n += 1` and `self.n = self.n + 1`; `is_read` when the region reads it too, `is_read_first`
    when it does so before this store. `initial` is the value that `__init__` or the module gave it; for
    scope "tensor" it is the tensor. `of_plain`
    for an attribute of an object that is no module: Dynamo makes its ints dynamic. `read_at` is where
    the same function reads it first, line and column; (0, 0) for what the region had read before that was called.
    """

    owner: str
    name: str
    scope: str
    value: Value
    initial: Value = UNKNOWN
    reads_itself: bool = False
    is_read: bool = False
    is_read_first: bool = False
    of_plain: bool = False
    read_at: tuple[int, int] | None = None


class Mutate(Event, frozen=True, kw_only=True):
    """A container that outlives the call changes its length or keys: `method` "append", "__setitem__", ...

    `home` is where it lives ("self.history", "global SEEN", "default cache"), "" where that is the subgraph that
    the event is `within`; `key` the key's value for dicts.
    `bounded`: the region takes items out too, or asks first whether they are there; `most`: only out of so many.
    `read_at` is where the same function has it first, line and column.
    """

    home: str
    method: str
    value: Value = UNKNOWN
    key: Value = UNKNOWN
    is_read: bool = False
    bounded: bool = False
    most: int | None = None
    read_at: tuple[int, int] | None = None


class Outside(Event, frozen=True, kw_only=True):
    """An attribute that the region reads (`node` is the read) is set from outside the region.

    `path` and `line` say where; `value` is set there, `initial` by `__init__`; `use`, `what` as in Varies.
    """

    owner: str
    name: str
    value: Value
    initial: Value
    path: str
    line: int
    use: str = "other"
    what: str = ""


class Varies(Event, frozen=True, kw_only=True):
    """The calls that the source shows give a region's input, used at `node`, different values.

    `what`: "size", "int", "float", "bool", "str", "enum", "none", "dtype", "stride", "alias",
    "object", "length" of a container, "kept length" of a list on an object, "type", "requires_grad", "inference", "grad_mode", "autocast", "default_dtype", "module_dtype", "hooks", "late hooks" that no call runs, "identity" with what the code has by name, "index"; "keys" of a dict; "idle"
    where the first call leaves the function `name` before any operation on a tensor.
    `name` is the parameter; `values` what was seen, as text; `use` how the region uses a size ("branch", "format",
    "constant" where Dynamo makes one of it, "other") or a number (see `NumberUses.of`); `changed` the dimensions that differ; `alone`: no other argument's do.
    """

    name: str
    what: str
    values: tuple[str, ...] = ()
    use: str = "other"
    changed: tuple[tuple[int, tuple[int, ...]], ...] = ()
    alone: bool = False

    @property
    def seen(self) -> str:
        """The first values, for a message: " (5, 6, 7)"; "" when they are not known."""
        return f" ({', '.join(self.values[:4])})" if self.values else ""


class Statement(Event, frozen=True, kw_only=True):
    """A statement that matters by itself: `construct` "class", "import", "raise" (caught in the
    region, `name` the exception), "raise object" (an object of a class of the checked source,
    caught or not), "delete", "yield from", "await", "async for", "star import", "assert" (on a
    container or an object, with no message or a constant one). `missing`: of an import, that the
    user's environment is known and does not hold the module."""

    construct: str
    name: str = ""
    value: Value = UNKNOWN
    missing: bool = False


class Comprehension(Event, frozen=True, kw_only=True):
    """A list, set or dict comprehension that is a frame of its own (before Python 3.12) and that
    Dynamo would compile when Python runs it: it names torch, or holds tensors or modules of the
    function around it. With `is_generator` a generator expression, which is one too.

    `iterable` is what it goes over. Rules receive it only where the function around it is skipped,
    and where a break in it makes Python call it with an iterator that Dynamo does not make anew; a
    generator only where a break in it leaves the iterator half used, and where it `is_not_rebuilt`, as
    the only argument, as it is or unpacked, of a call with a break inside.
    """

    iterable: Value
    is_generator: bool = False
    is_not_rebuilt: bool = False
    is_unpacked: bool = False
    only_when_skipped: ClassVar[bool] = True

    @property
    def is_skipped_with_its_iterator(self) -> bool:
        """True over dicts, modules and most iterators; a list or a tuple Dynamo begins anew, and the
        modules that `enumerate` counts."""
        over = self.iterable
        if self.is_generator:
            return not self.is_unpacked
        if type(over) is Dict or holds_modules(over):
            return True
        if not isinstance(self.node, ast.Call):
            return False
        name = getattr(self.node.func, "id", "") or getattr(self.node.func, "attr", "")
        if name == "enumerate":
            return not counts_modules(over)
        return name in ("zip", "map", "items", "values", "keys", "children")


class Constructor(Event, frozen=True, kw_only=True):
    """The `__init__` of a module runs inside the region; `node` is where it first uses the object.

    Rules receive it only where Dynamo does not trace the call of the class, because something in it
    breaks or because a break left the caller to Python, and so begins with `__init__` itself.
    """

    only_when_skipped: ClassVar[bool] = True
