"""The code that makes a region's calls, while it is followed outside of regions: a driver that an entry
names, or the checked file's own code around what it compiles."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from breakscope import limits
from breakscope.rulekit.values import (
    UNKNOWN,
    Class,
    Const,
    Dict,
    External,
    ExternalInstance,
    Function,
    Instance,
    Py,
    Sequence,
    Tensor,
    Value,
)
from breakscope.rulekit.walking import walk
from breakscope.static.machine.compiled_names import CompiledNames
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.kept import Held, held_by
from breakscope.static.machine.watch import Watch
from breakscope.static.project.generators import is_generator
from breakscope.static.project.modules import FunctionInfo, ModuleInfo

if TYPE_CHECKING:
    from random import Random

# the state "grad_mode" under torch.no_grad and its like, and under torch.inference_mode
OFF, INFERENCE = "off", "inference"
# what guards are on where a closure has it
CLOSED_OVER = (
    Const
    | Sequence
    | Dict
    | Class
    | External
    | ExternalInstance
    | Function
    | Instance
    | Py
    | Tensor
)


class DrivenCall(NamedTuple):
    """A call of what is compiled by the file's own code, a function or a module of torch's: with which
    arguments, in which global state, with which variables of its closure, and how many attributes had
    been set from outside before."""

    callee: Value
    args: list[Value]
    kwargs: dict[str, Value]
    state: dict[str, str]
    variables: dict[str, Value]
    written: int
    done: Watch | None = None  # what it did
    node: ast.Call | None = None  # where a module of torch's is called
    modules: tuple[Value, ...] = ()  # that a function has from its arguments, closure and globals
    held: tuple[Held, ...] = ()  # what its objects hold before it runs
    # numbers that its program draws are examples, which no message shows
    has_examples: bool = False
    # the calls of functions that it makes itself, while it is followed
    inner: list[DrivenCall] = []

    @property
    def owner(self) -> Value | None:
        """The object whose state matters: the function's, or the module itself."""
        return self.callee.bound if type(self.callee) is Function else self.callee


class Driver(Struct, eq=False):
    """A driver while it runs: see regions/driver.py; for a file's own code regions/programs.py."""

    # its loops are followed turn by turn
    function: FunctionInfo | ModuleInfo | None = None
    home: ModuleInfo | None = None  # the file whose own code it is
    # global state that it has set: "autocast", "default_dtype", ...
    state: dict[str, str] = {}
    outside: list[tuple] = []  # attributes set on objects from outside of regions
    calls: list[DrivenCall] | None = None  # those that the file's own code makes
    # the calls that belong together, with what was set between them
    programs: list[tuple[list[DrivenCall], list[tuple]]] = []
    begun: int = 0  # how many attributes had been set from outside before those of `calls`
    names: CompiledNames = CompiledNames()
    undecided: bool = False  # an open test decides whether the running call happens
    inside: bool = False  # what is compiled is running
    inner: list[DrivenCall] = []  # the calls that it makes
    runs: int = 1  # how often the body of a loop in a helper runs, with those around it
    loops: int = 0  # how many loops are being followed, each inside of the one before
    # by `id` of an optimizer: it, and its `param_groups`
    groups: dict[int, tuple[Value, Sequence]] = {}
    factories: dict[int, tuple[Dict, Value]] = {}  # by `id` of a defaultdict: it, and what it calls
    longest: dict[int, tuple[Sequence, int | None]] = {}  # by `id` of a deque: it, and its `maxlen`
    growing: set[int] = set()  # by `id`: what compiled code added to before it was full
    started: dict[int, Value] = {}  # by `id`: threads that were started and not joined
    queues: dict[int, tuple[Value, Sequence]] = {}  # by `id` of a queue: it, and what it holds
    # by `id` of what `parameters()` gives: it, and whose parameters they are
    owners: dict[int, tuple[Tensor, Value]] = {}
    # keys that dicts which outlive the call gained from what is compiled
    filled: list[tuple[Dict, object]] = []
    # by `id`: tensors that hold what their text says, and no drawn numbers
    plain: dict[int, Tensor] = {}
    tried: set[int] = set()  # ids of `try` statements that are being tried again
    # what mark_dynamic was called with, by `id`: the tensor, and the dimensions, None for any; and arguments of these
    marked: dict[int, tuple[Tensor, frozenset[int] | None]] = {}
    options: dict[str, Value] = {}  # numbers of a command line, by their names
    # by `id`: a random number, with the numbers that it is the sum of
    sums: dict[int, tuple[Value, list[Value]]] = {}
    varying: dict[int, Value] = {}  # by `id`: constants that another turn has other values for
    # by `id`: a tensor, and the numbers it was made of
    rows: dict[int, tuple[Tensor, list[Value]]] = {}
    # by `id`: a list of which a filter decides how long it is, and what stands for its length
    filtered: dict[int, tuple[Sequence, object]] = {}
    contents: dict[int, tuple[Tensor, Value]] = {}  # by `id`: a drawn tensor, and its one number
    # of `with` blocks of the program's own contexts: what runs where this function yields
    bodies: list[tuple[FunctionInfo, Callable[[Value], None]]] = []
    members: dict[tuple[str, str], Value] = {}  # of enums, by class and name: their values
    enums: dict[str, Class] = {}  # those whose members the code around regions names
    chance: Random | None = None  # gives examples of what the file's own code draws
    # by `id` of a module: it, and where a hook was put on it last
    hooked: dict[int, tuple[Value, ast.Call, ModuleInfo]] = {}
    latest: dict[tuple, int] = {}  # the last of them, by what was asked for
    examples: int = 0  # how many there were
    left_to_python: bool = False  # what is compiled has called a function that is disabled
    stands_for_many: int = 0  # more than 0 while one run of a body stands for all of its turns

    @property
    def sets(self) -> bool:
        """True while what is set from outside of regions is noted."""
        return self.function is not None and not self.inside

    @property
    def notes(self) -> bool:
        """The same, and while Python runs a function that what is compiled leaves to it."""
        return self.sets or self.left_to_python

    def number_in(self, tensor: Value, frame: Frame) -> Value | None:
        """The example of the number in a drawn tensor, in the code around a region."""
        known = None if frame.emits else self.contents.get(id(tensor))
        return known and known[1]

    def follows_turns(self, frame: Frame) -> bool:
        """True where a loop is followed turn by turn."""
        if self.function is None or self.inside:
            return False
        if frame.function is None:
            return frame.module is self.function
        return frame.function is self.function or (
            self.calls is not None
            and (id(frame.function.node) in self.names.callers or is_generator(frame.function))
        )

    def most_turns(self, more: int = 0) -> int:
        """How many turns of a loop are followed in those around it, `more` of which are still to begin."""
        depth = self.loops + more
        if depth > 2:
            return limits.FEW_DRIVEN_TURNS
        return limits.MOST_DRIVEN_TURNS if depth < 2 else limits.MOST_INNER_TURNS

    def follows_known_turns(self, frame: Frame) -> bool:
        """True in functions of the file's own that the code around a region calls, and in what is compiled:
        their loops are followed as far as they go where that is known."""
        return (
            self.calls is not None
            and self.function is not None
            and frame.function is not None
            and not frame.emits
            and frame.module is self.home
        )

    def tries_again(self, node: ast.Try, frame: Frame, calls: int) -> bool:
        """True for a `try` in a loop that a call of something compiled ends where it succeeds: each second time,
        for its handler is there to try again with something else. There were `calls` before it."""
        has_call = self.calls is not None and not self.inside and len(self.calls) > calls
        if not has_call or not self.loops or not self.follows_turns(frame):
            return False
        self.tried ^= {id(node)}
        return id(node) in self.tried

    def varies(self, value: Value) -> bool:
        """True for a number that is another one each time: a random one, or one that a loop counts."""
        return id(value) in self.varying or (type(value) is Py and value.is_drawn)

    def note_varying(self, value: Value) -> None:
        """Note what a turn of a loop, and no other, binds its names to."""
        if type(value) is Const and type(value.value) in (int, float):
            self.varying[id(value)] = value
        elif type(value) is Sequence and value.type == "tuple":
            for item in value.items or ():
                self.note_varying(item)

    @contextmanager
    def leaves_to_python(self) -> Iterator[None]:
        """While Python runs a function that is disabled: what it sets, it sets between graphs."""
        before, self.left_to_python = self.left_to_python, self.inside
        try:
            yield
        finally:
            self.left_to_python = before

    @contextmanager
    def one_for_many(self) -> Iterator[None]:
        """While one run of a body stands for all of its turns, no number that it draws is an example."""
        self.stands_for_many += 1
        try:
            yield
        finally:
            self.stands_for_many -= 1

    def result_of(self, result: Value, parts: list[Value], is_sum: bool = False) -> Value:
        """What code of the file's own computes of numbers, some of which are others each time."""
        if self.calls is None or not any(map(self.varies, parts)):
            return result
        if type(result) is Const:
            self.note_varying(result)
        elif type(result) is Py and result.type.startswith("numpy"):
            result = replace(result, source="random")
        elif result is UNKNOWN or type(result) is Py:
            kind = result.type if type(result) is Py and result.type == "int" else "float"
            result = Py(kind, "random")
            if is_sum:
                self.sums[id(result)] = (result, parts)
        return result

    def difference(self, stop: Value, start: Value) -> Value | None:
        """`stop - start` where one was made by adding to the other; None where that is not known."""
        added = self.sums.get(id(stop), (stop, []))[1]
        rest = [part for part in added if part is not start]
        return rest[0] if len(rest) == 1 == len(added) - 1 else None

    def set_state(self, what: str, text: str, owner: Value) -> None:
        """Note global state, and with the file's own code, which has several models, of which object."""
        if self.sets:
            key = what if self.calls is None else f"{what} {id(owner.original)}"
            self.state.pop(key, None)  # the last one stands last
            self.state[key] = text

    def shorten(self, items: Sequence) -> None:
        """Take from the left what a deque does not hold any more."""
        most = self.longest.get(id(items), (items, None))[1]
        if type(most) is int and items.items is not None:
            del items.items[: max(0, len(items.items) - most)]

    def track_parameters(self, text: str, parameter: Tensor, value: Value) -> None:
        """Note that parameters require grad from here on, as they do at first, or no longer."""
        owners = self.owners if self.calls is not None else {}
        owner = owners.get(id(parameter), (parameter, None))[1]
        key = "requires_grad" if owner is None else f"requires_grad {id(owner)}"
        was_set = any(known.startswith("requires_grad") for known in self.state)  # of what holds it
        if was_set or value != Const(True):
            self.state.pop(key, None)  # the last one stands last
            plain = ("on" if value.value else "off") if value.is_const else text
            self.state[key] = plain if owner is not None else f"{text} {plain}"

    def note(
        self, callee: Function, args: list[Value], kwargs: dict[str, Value], values, modules
    ) -> Watch | None:
        """Keep a call of what is compiled, with what the objects among `values` hold; what it does is to be noted in
        what is returned."""
        if self.undecided:
            return None
        args, kwargs = self._all_marked((*callee.args, *args), dict(callee.kwargs) | kwargs)
        state, variables = dict(self.state), self.variables_of(callee)
        written, done, self.inner = len(self.outside), Watch(), []
        held = held_by((callee.bound, *values))
        self.calls.append(
            DrivenCall(
                callee,
                args,
                kwargs,
                state,
                variables,
                written,
                done,
                None,
                modules,
                held,
                inner=self.inner,
            )
        )
        return done

    def note_inner(self, callee: Function, args: list[Value], kwargs: dict[str, Value]) -> None:
        """Keep a call that what is compiled makes of a function of the file's own."""
        if callee.info.module is self.home and len(self.inner) < limits.MOST_KNOWN_TURNS:
            args, kwargs = self._all_marked((*callee.args, *args), dict(callee.kwargs) | kwargs)
            self.inner.append(DrivenCall(callee, args, kwargs, dict(self.state), {}, 0))

    def note_module(
        self, callee: Value, args: list[Value], kwargs: dict[str, Value], node: ast.AST
    ) -> None:
        """Keep a call of a compiled module of torch's."""
        if self.undecided or type(node) is not ast.Call:
            return
        args, kwargs = self._all_marked(args, kwargs)
        self.inner = []
        call = DrivenCall(callee, args, kwargs, dict(self.state), {}, len(self.outside), None, node)
        self.calls.append(call._replace(inner=self.inner))

    def variables_of(self, callee: Function) -> dict[str, Value]:
        """What the function's closure has that guards are on; at a file's top level also its globals, which
        are set without a statement that says so."""
        scope, found = callee.scope, {}
        while scope is not None:
            kept = {k: v for k, v in scope.names.items() if isinstance(v, CLOSED_OVER)}
            found = {k: as_it_is(v) for k, v in kept.items()} | found
            scope = scope.scope
        return found

    def _all_marked(
        self, args: Iterable[Value], kwargs: dict[str, Value]
    ) -> tuple[list[Value], dict[str, Value]]:
        marked = {k: self.as_marked(v) for k, v in kwargs.items() if not k.startswith("*")}
        return [self.as_marked(value) for value in args], marked

    def as_marked(self, value: Value) -> Value:
        """An argument as it is now: a container may change later, and a tensor whose sizes were marked as
        dynamic has any size."""
        value = value.original
        if isinstance(value, Sequence | Dict):
            return as_it_is(value)
        if type(value) is Function and value.scope is not None:
            named = {part.id for part in walk(value.info.node) if type(part) is ast.Name}
            held = sorted(self.variables_of(value).items())
            return replace(value, held=tuple((k, v) for k, v in held if k in named))
        if type(value) is Tensor and id(value) in self.marked:
            made = Tensor(value.dtype, value.ndim, value.shape, value.sure, value.kind)
            made = without_sizes(made, self.marked[id(value)][1])
            self.marked[id(made)] = made, self.marked[id(value)][1]
            return made
        return value

    @contextmanager
    def following(
        self, program: FunctionInfo | ModuleInfo, names: CompiledNames
    ) -> Iterator[list[tuple[list[DrivenCall], list[tuple]]]]:
        """Follow code of the file's own; the list that is given holds at the end the calls, and what
        was set between them."""
        from random import Random

        before, self.function = self.function, program
        outer, self.calls, self.names = self.calls, [], names
        earlier, self.programs = self.programs, []
        self.home = program if isinstance(program, ModuleInfo) else program.module
        state, self.state, start = self.state, {}, len(self.outside)
        begun, self.begun = self.begun, start
        chance, self.chance, self.latest, self.examples = self.chance, Random(0), {}, 0
        many, self.stands_for_many = self.stands_for_many, 0
        try:
            yield self.programs
        finally:
            self.end_program()
            self.outside[start:] = []
            self.function, self.calls, self.state = before, outer, state
            self.programs, self.begun = earlier, begun
            self.chance, self.stands_for_many = chance, many
            self.varying.clear()

    def end_program(self) -> None:
        """Close what belongs together of the followed calls: behind a reset of Dynamo, and at the end."""
        has_examples = self.examples > 0
        calls = [
            call._replace(written=call.written - self.begun, has_examples=has_examples)
            for call in self.calls or ()
        ]
        self.programs.append((calls, self.outside[self.begun :]))
        self.calls, self.begun = [], len(self.outside)


def as_it_is(value: Value) -> Value:
    """A list or dict with what it holds now, for comparing it with what it holds later."""
    if type(value) is Sequence and value.items is not None:
        items = [as_it_is(item) for item in value.items]
        return Sequence(value.type, items, value.element, is_once=value.is_once)
    if type(value) is Dict:
        items = {name: as_it_is(item) for name, item in value.items.items()}
        return Dict(items, value.element, open=value.open)
    return value


def without_sizes(value: Tensor, dimensions: frozenset[int] | None) -> Tensor:
    """A tensor of which these dimensions, or None for all, have any size."""
    if value.shape is None or dimensions is None:
        return replace(value, shape=None)
    at = {dimension % len(value.shape) for dimension in dimensions if value.shape}
    return replace(value, shape=tuple(None if i in at else n for i, n in enumerate(value.shape)))
