"""Frames and activations: where the interpreter is, and what it saw there."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from operator import attrgetter

from msgspec import Struct

from breakscope.rulekit.events import Event
from breakscope.rulekit.values import External, ExternalInstance, Py, Tensor, Value
from breakscope.static.project.modules import FunctionInfo, ModuleInfo

GO_ON, RETURN, RAISE, LEAVE_LOOP = range(4)  # how a block ended


class Raised(Exception):
    """The program under analysis certainly raises here; `value` is the exception's class or
    instance."""

    def __init__(self, value: Value) -> None:
        super().__init__()
        self.value = value

    @property
    def is_stop(self) -> bool:
        """True for StopIteration, or an object of it."""
        is_named = isinstance(self.value, External | ExternalInstance)
        return is_named and self.value.name == "StopIteration"


class OutOfBudget(Exception):
    """A region took more work than it is allowed."""


class Step(Struct, eq=False):
    """One thing that happened in an activation: an event, or a call into another activation."""

    event: Event | None
    child: Activation | None = None
    skips: str = ""
    node: object = None  # the call's ast node, for a child
    condition: str = ""  # the configuration test that decides whether the call happens
    undecided: int = 0  # whether the call happens: as of events
    rare: bool = False  # it happens only where the program is debugged, or the like
    problems: object = None  # what the rules report of the event, once they were matched
    # how many steps were taken before the object was made whose method the child is, or that is entered
    made_at: int = -1
    # the same of an event that is only one while no break has handed the object to Python
    held_since: int = -1
    # an event only matters where Dynamo compiles a function by itself that stands this deep in the chain of calls
    apart: int = 0
    is_last: bool = False  # where it breaks, nothing is left behind it that Dynamo would compile

    @property
    def is_one_of_several(self) -> bool:
        """True for a call whose condition says which of several functions it is that is called there."""
        return bool(self.condition) and not self.undecided


class Activation(Struct, eq=False):
    """One analysis of a function for one combination of arguments: what Dynamo would compile as a
    frame."""

    function: str
    module: ModuleInfo
    line: int
    node: ast.AST | None = None  # the `def` or lambda
    steps: list[Step] = []
    # (id of node, type of event, detail): an event counts once; empty when the call is over
    seen: set | frozenset = set()
    # all of it, with what it calls, was matched, and no rule reports anything
    is_quiet: bool = False
    is_compiled_by_itself: bool = True  # Dynamo looks at it where eager Python calls it
    is_for_gradient: bool = False  # called by a backward function of autograd's, or one itself
    runs_later: bool = False  # a generator's, piece by piece: what goes over it cannot be resumed
    # by id: a tensor of one number, or one of numpy's, that got a name here, and how many steps were taken before
    named: dict[int, tuple[Value, int]] = {}
    # of a region: the program calls it several times, and is seen to give it other values each time
    is_repeated: bool = False
    varies: bool = False
    # the parameters of its function for which they are the same in all calls
    fixed: frozenset[str] = frozenset()
    # the last operation that gave a tensor, and how many steps were taken before
    worked: tuple[int, ast.AST | None] = (-1, None)
    began: int = -1  # how many steps were taken before the first that surely did
    _mark: int = 0

    def mark(self) -> int:
        """A number that is the same for activations in which the same was seen; computed when the
        call is over."""
        if not self._mark:
            self._mark = -1  # ends a recursion
            self._mark = hash((self.function, self.line, *[_mark_of(step) for step in self.steps]))
        return self._mark

    def note_named(self, value: Value) -> None:
        """A value gets a name: of a tensor of the region that is kept, and of numpy's numbers."""
        is_tensor = type(value) is Tensor and value.is_computed
        if is_tensor or (type(value) is Py and value.type == "numpy number"):
            self.named[id(value)] = (value, len(self.steps))

    def note_made(self, value: Value) -> None:
        """An iterator or a view of a dict is made, which a break hands on as Python's own."""
        self.named[id(value)] = (value, len(self.steps))

    def note_work(self, node: ast.AST, is_sure: bool = True) -> None:
        """An operation gives a tensor, or what may be one."""
        self.worked = len(self.steps), node
        if is_sure and self.began < 0:
            self.began = len(self.steps)

    def works_between(self, first: int, last: int, depth: int = 3) -> bool:
        """True where something is computed with tensors between two steps, here or in what is called."""
        return first <= self.began <= last or any(
            child is not None and depth > 0 and child.works_between(0, len(child.steps), depth - 1)
            for child in (step.child for step in self.steps[first:last])
        )

    def works_behind(self, index: int) -> bool:
        """True where something is computed with tensors behind a step, as far as the function's end."""
        at, node = self.worked
        step = self.steps[index]
        is_own = node in (step.node, getattr(step.event, "node", None))  # what the step itself gave
        if at > index and not (is_own and at == index + 1):
            return True
        return any(
            step.child is not None and step.child.works() for step in self.steps[index + 1 :]
        )

    def works(self) -> bool:
        """True where something may be computed with tensors here, or in what is called."""
        return self.worked[1] is not None or any(step.child is not None for step in self.steps)

    def finish(self) -> None:
        """Let go of what was seen, when no rule reports anything of it."""
        self.mark()
        self.steps = []
        self.named = {}


def _mark_of(step: Step) -> object:
    event = step.event
    if step.child is not None:
        return (step.child.mark(), step.skips)
    return (
        id(event.node),
        type(event),
        event.certainty,
        event.skips,
        event.caught,
        event.undecided,
        event.within,
    )


OF_STATEMENT = "skips resumes_loops jumps certainty emits activation exits breaks handled caught undecided spared rare".split()
_state_of = attrgetter(*OF_STATEMENT)


class Frame(Struct, eq=False):
    """The state of one running function, class body or module."""

    module: ModuleInfo
    function: FunctionInfo | None = None
    scope: Frame | None = None  # the enclosing function's frame, for closures
    activation: Activation | None = None
    emits: bool = False  # outside of regions: __init__, module level, factories
    depth: int = 0
    prefix: str = ""
    names: dict[str, Value] = {}
    skips: str = ""
    resumes_loops: bool = (
        True  # Dynamo can make the iterators of the loops around anew behind a break
    )
    # what the jump at the end of a `while` tests, and what a break there loses
    jumps: tuple[object, str] = (None, "")
    certainty: str = "certain"
    condition: str = ""
    # outside of regions the innermost undecided `if` by configuration, which side of it runs, and under
    # which condition it is reached
    branch: tuple[ast.expr, bool, str] | None = None
    # outside of regions, what configuration decides of the call of this function
    called_if: str = ""
    returns: list[Value] = []
    exits: list[dict[str, Value]] = []  # names at each break and continue of the innermost loop
    breaks: list[dict[str, Value]] = []  # those of them that end it
    yields: list[Value] = []
    globals_: frozenset[str] | set[str] = frozenset()
    nonlocals: frozenset[str] | set[str] = frozenset()
    bound: Value | None = None  # self or cls
    handled: Value | None = None  # the exception being handled
    caught: bool = False  # an exception raised here is caught inside the region
    undecided: int = 0  # whether this code runs: as of events
    # outside of regions: what decides it is data, which comes out either way now and then
    by_data: bool = False
    # where an optional tensor is left out, this part of the expression is not evaluated
    spared: bool = False
    rare: bool = False  # this code runs only where the program is debugged, or the like
    always: bool = False  # every call of the region calls this function
    within: str = ""  # "checkpoint", "hook", "backward": runs as a subgraph of its own
    begun_within: str = ""  # the same, when it began
    began: int = 0  # how many objects had been made inside of regions before

    def state(self) -> tuple:
        """What a statement changes while it runs, and restores at its end."""
        return _state_of(self)

    def restore(self, state: tuple) -> None:
        """Restore it in the statement's place, which could not be followed."""
        for name, value in zip(OF_STATEMENT, state):
            setattr(self, name, value)

    @contextmanager
    def silent(self) -> Iterator[None]:
        """Evaluate something for its value alone, without its events."""
        emits, self.emits = self.emits, False
        try:
            yield
        finally:
            self.emits = emits

    def note_call(self, child: Activation, node: ast.AST) -> None:
        """Note a call that was followed, and under which conditions it happens here."""
        skips = self.skips or ("call" if child.runs_later else "")
        step = Step(None, child, skips, node, self.condition, self.undecided, self.rare)
        self.activation.steps.append(step)

    def is_in_branch(self) -> bool:
        """True where a test, or an earlier `return`, decides whether this code runs."""
        return bool(self.undecided or self.condition)

    def may_not_happen(self) -> bool:
        """True where a test decides whether this code runs, and data does not decide it."""
        return self.is_in_branch() and not self.by_data

    def enclosing(self, name: str) -> Frame | None:
        """The enclosing function frame that binds `name`."""
        scope = self.scope
        while scope is not None:
            if name in scope.names:
                return scope
            scope = scope.scope
        return None
