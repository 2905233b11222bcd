"""What a walk over the steps of one activation has come to: breaks, and what stands behind them."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from breakscope.rulekit.events import Comprehension, Constructor, Event, Mutate, Store, Varies
from breakscope.rulekit.rule import Rule
from breakscope.rulekit.values import Value
from breakscope.rulekit.walking import begin_of, end_of
from breakscope.static.findings.verdicts import Verdict, Way
from breakscope.static.machine.frames import Activation, Step
from breakscope.static.machine.given import both, excludes, implies, opposite

CHANGES = frozenset({Store, Mutate})  # of what outlives the call, whose next one finds it changed


class Seen(Struct, eq=False):
    """What a walk over the steps of one activation has come to."""

    activation: Activation
    way: Way
    found: dict[tuple, Verdict]
    skipped: bool
    any_break: bool = False  # one that happens each time that it is entered
    last_break: int = -1
    # what counts once in a function; another call may be of another object
    flagged: set[tuple] = set()
    waiting: list[Event] = []  # they matter when the frame is skipped
    traced: int = 0  # how many of `waiting` stand in the graph
    broken: set[int] = set()  # what comprehensions with a break inside go over
    # what generators go over that are arguments of a call with a break inside
    cut_off: set[int] = set()
    broken_calls: set[object] = set()  # in which something breaks each time
    eager: list[Step] = []  # what Python does again because of a break behind it
    # by condition: the last step with a break that surely happens under it
    new_graph: dict[str, int] = {}
    numbers: list[tuple[Event, Rule, Way]] = []  # that breaks have handed on, and only kept so far
    late: list[tuple[int, Verdict]] = []
    # breaks that a condition decides: the first one, that of the first that skips the frame with how
    # many of `waiting` the graph before it has, and those inside of comprehensions by what these go over
    under: str = ""
    skipped_under: str = ""
    skips_under: set[str] = set()  # all conditions under which the frame is skipped
    kept_under: int = 0
    broken_under: dict[int, str] = {}
    resumed_at: int = 0  # how many of `waiting` stand before the last break
    begun: bool = False  # compiled up to a break, though what is behind it is skipped
    ended: bool = False  # resumed behind a break, where nothing is left to compile

    @property
    def here(self) -> tuple:
        return (*self.way.chain, (self.activation, None))

    @property
    def not_done(self) -> int:
        """The first step behind the last break: a break that skips the frame leaves them to Python."""
        return len(self.activation.steps) if self.skipped else self.last_break + 1

    def is_idle(self, event: Event) -> bool:
        """True for a change, or for an argument that is another one in each call, behind a break that surely happens,
        where nothing is computed any more: Dynamo compiles none of that. What was read before is guarded there."""
        if type(event) not in CHANGES and not _is_of_argument(event):
            return False
        last = self.last_sure_break(event.condition)
        if last < 0:
            return self.way.idle and type(event) is not Varies
        step = self.activation.steps[last]
        node = step.node or step.event.node
        begin, end = begin_of(node), end_of(node)
        if type(event) is Varies:  # what the break's own call is given is read before it
            is_read_before = begin_of(event.node) < end
        else:
            is_read_before = event.read_at and event.read_at <= begin
        return not is_read_before and not self.activation.works_behind(last)

    def comes_to(self, step: Step) -> bool:
        """False for the backward function of `apply` where a break in the forward one leaves the whole call to Python:
        autograd calls it later, when Dynamo does not look."""
        return not (step.child.is_for_gradient and step.node in self.broken_calls)

    def last_sure_break(self, condition: str) -> int:
        """The last step with a break that happens wherever the `condition` holds; -1 for none."""
        return max(self.new_graph.get("", -1), self.new_graph.get(condition, -1))

    def is_older(self, value: Value, condition: str) -> bool:
        """True for a value that had a name before the graph began."""
        known, steps = self.activation.named.get(id(value), (None, 0))
        return known is value and steps <= self.last_sure_break(condition)

    @property
    def way_to_break(self) -> Way | None:
        """How the activation is entered where Python calls it or it breaks, which may need a condition; None
        where neither is."""
        if self.way.apart or self.last_break >= 0:
            return self.way
        if not self.under:
            return None
        return replace(self.way, condition=both(self.way.condition, self.under))

    @property
    def is_repeated(self) -> bool:
        """True where the program calls the region several times."""
        return self.way.is_repeated or self.activation.is_repeated

    @property
    def varies(self) -> bool:
        """True where the program's calls of the region are given other values each time."""
        return self.way.varies or self.activation.varies

    @property
    def fixed(self) -> frozenset[str]:
        """The parameters that are the same in all of these calls."""
        return self.way.fixed | self.activation.fixed

    def hides(self, rule: Rule, event: Event, condition: str) -> bool:
        """True for what Dynamo does not come to any more behind a break, or not wherever the condition holds; what
        differs between calls was read before."""
        if self.ended and rule.kind == "recompile":
            return False  # of an attribute that is changed `is_idle` says it
        is_skipped = self.skipped or any(implies(condition, under) for under in self.skips_under)
        return is_skipped and not (self.begun and type(event) is Varies)

    def decided_by(self, event: Event, position: int) -> str:
        """The condition under which a break leaves a comprehension to Python; "" for none, for one that cannot
        be said beside the comprehension's own, and for one under which the comprehension is not reached."""
        if type(event) is not Comprehension or event.is_generator:
            return ""
        under = self.skipped_under if position >= self.kept_under else ""
        if event.is_skipped_with_its_iterator and id(event.node) in self.broken_under:
            under = self.broken_under[id(event.node)]
        is_reached = not excludes(event.condition, under)
        return under if is_reached and under in both(event.condition, under) else ""

    def note_new_graph(self, condition: str, index: int) -> None:
        """A break that surely happens wherever the condition holds: one of two does whose conditions are opposite."""
        self.new_graph[condition] = index
        other = self.new_graph.get(opposite(condition), -1) if condition else -1
        if other >= 0:
            self.any_break = True
            self.new_graph[""] = max(self.new_graph.get("", -1), min(index, other))

    def note_break_under(self, condition: str, skips: bool) -> None:
        """A break that happens where the condition holds, and may skip the frame then."""
        self.under = self.under or condition
        skips = skips or is_never_resumed(self.activation)
        if skips:
            self.skips_under.add(condition)
        if skips and opposite(condition) in self.skips_under:
            self.skipped = True  # by one or the other
        if skips and not self.skipped and not self.skipped_under:
            self.skipped_under, self.kept_under = condition, self.resumed_at

    def note_break(self, index: int, undecided: int, skips: bool) -> None:
        self.resumed_at = len(self.waiting)
        self.begun = self.begun or (not self.skipped and self.last_break >= 0)
        self.any_break, self.last_break = self.any_break or not undecided, index
        self.skipped = skips or is_never_resumed(self.activation)

    def note_end(self, index: int, step: Step) -> None:
        """Behind a break in the last step that has tensors Dynamo compiles nothing, though it resumes there."""
        if step.is_last and self.last_break == index and not self.skipped:
            self.skipped = self.begun = self.ended = True
            self.traced = len(self.waiting)


def is_constructor(activation: Activation) -> bool:
    """True for the `__init__` of a module."""
    return bool(activation.steps) and type(activation.steps[0].event) is Constructor


def is_never_resumed(activation: Activation) -> bool:
    """True for a frame that Python runs from a break on: Dynamo does not look at it by itself, or meets a module
    there that is not made yet."""
    return not activation.is_compiled_by_itself or is_constructor(activation)


def is_left_to_python(activation: Activation, way: Way) -> bool:
    """True where Dynamo traces nothing of the frame itself."""
    return way.eager or (way.apart and is_constructor(activation))


def _is_of_argument(event: Event) -> bool:
    """True for what differs in a parameter, or a part of one: global state has its own name."""
    return (
        type(event) is Varies and event.name != event.what and event.what not in ("idle", "alias")
    )
