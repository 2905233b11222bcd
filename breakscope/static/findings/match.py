"""From events to problems: match the rules, follow breaks up the calls, and hide what an earlier
break hides."""

from __future__ import annotations

import ast

from msgspec import Struct
from msgspec.structs import replace

from breakscope.knowledge import kind, load, since
from breakscope.rulekit.events import CHOSEN, Call, Constructor, Event, Problem
from breakscope.rulekit.rule import Rule
from breakscope.rulekit.switches import switched_on
from breakscope.static.findings.listeners import Listeners
from breakscope.static.machine.frames import Activation, Step
from breakscope.static.machine.gaps import Gaps, why
from breakscope.static.machine.given import both
from breakscope.static.project.modules import ModuleInfo
from breakscope.static.regions.discover import Region

COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp)
# until then Dynamo resumed behind a break in one
RESUMED_BEFORE = {"loop": "2.11", "comprehension": "2.11"}

# around a call: a break in what is called skips the caller too
OF_CALLERS = ("loop", "try", "with")


# activations and the nodes by which each enters the next
Chain = tuple[tuple[Activation, object], ...]


class Way(Struct, frozen=True):
    """How a region comes to an activation.

    `condition` is the configuration test that decides whether it is entered. What only runs while
    the program is debugged, or the like, is `doubtful`, and inside an installed library, where
    nobody can look up what it says, all that a test with an open outcome decides. An `eager` one is called by code that a break has left to Python, and Dynamo
    does not look at it. One that it only looks at as part of its caller is eager from its first
    break on. `skipped_caller`: the outermost caller that calls this where it cannot be resumed, so
    that a break in here skips its frame, and why. `apart`: Python calls it, and Dynamo begins anew
    with it.
    """

    chain: Chain = ()
    condition: str = ""
    doubtful: bool = False
    eager: bool = False
    skipped_caller: tuple[str, str] = ("", "")
    apart: bool = False


class Verdict(Struct, frozen=True):
    """One problem at one place, with the calls that lead there, outermost first."""

    rule: Rule
    problem: Problem
    event: Event
    module: ModuleInfo
    chain: Chain
    hidden: bool  # an earlier break in the same frame leaves this code to eager Python
    condition: str = ""  # the configuration test that decides whether this code runs
    # in an installed library: the calls from the checked code's on
    inside: Chain = ()
    doubtful: bool = False  # a test inside the library decides whether this code runs
    # why the frame of which caller is skipped too, the outermost one's
    skipped_caller: tuple[str, str] = ("", "")

    @property
    def confidence(self) -> str:
        return "possible" if self.hidden or self.doubtful else self.problem.certainty

    @property
    def place(self) -> tuple:
        """What one finding stands for: file, range and kind."""
        node = self.problem.node
        if self.inside:
            activation, within = self.inside[-1]
            return (
                self.module.path,
                *_range(node),
                self.rule.kind,
                activation.module.path,
                *_range(within),
            )
        return (self.module.path, *_range(node), self.rule.kind)


class Matcher:
    """Matches the rules to the events of regions."""

    def __init__(self, listeners: Listeners) -> None:
        self.listeners = listeners
        # functions that regions reach: path and qualified name
        self.entered: set[tuple[str, str]] = set()
        self.modules: dict[str, ModuleInfo] = {}  # those of these functions, by path
        self.gaps = Gaps()  # where a rule failed
        self._settings: dict[str, frozenset[str]] = {}  # by module
        self.resumed = {place for place, version in RESUMED_BEFORE.items() if not since(version)}

    def problems(self, event: Event, activation: Activation) -> list[tuple[Rule, Problem]]:
        """What the rules report of an event, lower codes first."""
        found = []
        for listener in self.listeners.to(event):
            try:
                problems = [*listener.problems(event)]
            except Exception as problem:
                self._failed(listener.rule, event, activation, problem)
                continue
            found.extend(
                (listener.rule, self.fitted(problem))
                for problem in problems
                if not problem.setting or problem.setting not in self.settings(activation.module)
            )
        if found and type(event) is Call and _traced(event):
            found = [pair for pair in found if pair[0].kind != "break"]
        return sorted(found, key=lambda pair: pair[0].code)

    def begin(self) -> None:
        """Start with the next file."""
        self.entered.clear()
        self.modules.clear()
        self._settings.clear()
        self.gaps = Gaps()

    def settings(self, module: ModuleInfo) -> frozenset[str]:
        """Dynamo's settings that a file switches on at its top."""
        if module.path not in self._settings:
            self._settings[module.path] = switched_on(module.tree)
        return self._settings[module.path]

    def _failed(self, rule: Rule, event: Event, activation: Activation, problem: Exception) -> None:
        message = why(problem, f"what the rule {rule.code} looks for")
        line = getattr(event.node, "lineno", 0)
        self.gaps.add(message, activation.module.path, line, activation.function)

    def fitted(self, problem: Problem) -> Problem:
        """The problem as the target version of torch has it."""
        return replace(problem, skips="") if problem.skips in self.resumed else problem

    def first_problems(self, event: Event, activation: Activation) -> list[tuple[Rule, Problem]]:
        """The first rule's problem of each kind: what breaks may make a recompile, too."""
        found = self.problems(event, activation)
        if len(found) < 2:
            return found
        first: dict[str, tuple[Rule, Problem]] = {}
        for rule, problem in found:
            first.setdefault(rule.kind, (rule, problem))
        return list(first.values())

    def match(self, regions: list[Region]) -> list[Verdict]:
        """All verdicts of the regions, each place once, visible ones first where a place is reached
        twice."""
        found: dict[tuple, Verdict] = {}
        breaks: dict[int, tuple[bool, bool]] = {}
        for region in regions:
            try:
                self._walk(region.activation, Way(), found, breaks, set())
            except Exception as problem:
                activation = region.activation
                self.gaps.add(why(problem), activation.module.path, activation.line, region.name)
        return list(found.values())

    def _walk(
        self,
        activation: Activation,
        way: Way,
        found: dict[tuple, Verdict],
        breaks: dict[int, tuple[bool, bool]],
        open_: set[int],
    ) -> bool:
        """True when something in the activation, or called from it, breaks the graph each time that
        it is entered. `breaks` remembers the answer, and whether there was a condition or doubt:
        then a call without looks again."""
        if activation.is_quiet:
            return False
        self.entered.add((activation.module.path, activation.function))
        self.modules[activation.module.path] = activation.module
        known = breaks.get(id(activation))
        if known is not None and (way.condition or way.doubtful or way.eager or not known[1]):
            return known[0] and not way.eager
        if id(activation) in open_:
            return False
        open_.add(id(activation))
        skipped, any_break = way.eager, False
        quiet = True
        here = (*way.chain, (activation, None))
        # what counts once in a function; another call may be of another object
        flagged: set[tuple] = set()
        waiting, broken = [], set()  # broken: what comprehensions with a break inside go over
        last_break, traced = -1, 0  # traced: how many of `waiting` stand in the graph
        for index, step in enumerate(activation.steps):
            if step.child is not None:
                chain = (*way.chain, (activation, step.node))
                # each line that enters a library counts
                is_entrance = step.child.module.library and not activation.module.library
                into = self._way_into(step, activation, way, chain, skipped)
                inner = self._walk(step.child, into, found, {} if is_entrance else breaks, open_)
                quiet = quiet and step.child.is_quiet
                if inner and step.undecided != CHOSEN:
                    if step.event is not None and not skipped and last_break < step.made_at:
                        for rule, problem in self.first_problems(step.event, activation):
                            _keep(_verdict(rule, problem, step.event, way, chain), found)
                            skipped = True
                    any_break, last_break = any_break or not step.undecided, index
                    if isinstance(step.node, COMPREHENSIONS):
                        broken.add(id(step.node.generators[0].iter))
                    skipped = (
                        skipped
                        or (bool(step.skips) and step.skips not in self.resumed)
                        or not activation.is_compiled_by_itself
                    )
                continue
            if step.event.only_when_skipped:
                waiting.append(step.event)
                continue
            if step.problems is None:
                step.problems = self.first_problems(step.event, activation)
            for rule, problem in step.problems:
                if problem.once is not None:
                    if (rule.code, problem.once) in flagged:
                        continue
                    # a recompile happens by any of the places
                    open_end = step.event.undecided and rule.kind == "break"
                    if not open_end and not step.event.condition:
                        flagged.add((rule.code, problem.once))
                # then Python has made the object, and given it a name
                if problem.skips == "object" and last_break >= 0:
                    problem = replace(problem, skips="")
                _keep(_verdict(rule, problem, step.event, way, here, skipped), found)
                if (
                    rule.kind == "break"
                    and not skipped
                    and problem.certainty != "possible"
                    and step.event.undecided != CHOSEN
                ):
                    any_break, last_break = any_break or not step.event.undecided, index
                    skipped = bool(problem.skips) or not activation.is_compiled_by_itself
                    # Dynamo compiles up to the statement, and leaves only the rest to Python
                    traced = len(waiting) if problem.skips == "call" else 0
        if way.apart or last_break >= 0:
            self._constructors(activation, way, found)
        for position, event in enumerate(waiting):
            if type(event) is Constructor:
                continue
            inside = id(event.node) in broken and event.is_skipped_with_its_iterator
            if (skipped and position >= traced) or inside:
                for rule, problem in self.problems(event, activation)[:1]:
                    _keep(_verdict(rule, problem, event, way, here), found)
        activation.is_quiet = (
            quiet and not waiting and not any(step.problems for step in activation.steps)
        )
        if activation.is_quiet:
            activation.finish()
        open_.discard(id(activation))
        if not way.eager:
            breaks[id(activation)] = (any_break, bool(way.condition) or way.doubtful)
        return any_break

    def _constructors(self, activation: Activation, way: Way, found: dict[tuple, Verdict]) -> None:
        """The `__init__` of a module that Dynamo begins with, and those that it calls: none of them
        is traced."""
        own = activation.steps[0].event if activation.steps else None
        if type(own) is not Constructor or activation.module.library:
            return
        here = (*way.chain, (activation, None))
        for rule, problem in self.problems(own, activation)[:1]:
            _keep(_verdict(rule, problem, own, way, here), found)
        for step in activation.steps:
            if step.child is not None and step.child is not activation:
                chain = (*way.chain, (activation, step.node))
                self._constructors(step.child, replace(way, chain=chain), found)

    def _way_into(
        self, step: Step, activation: Activation, way: Way, chain: tuple, skipped: bool
    ) -> Way:
        """How what a step calls is entered."""
        eager = skipped and not step.child.is_compiled_by_itself
        caller = way.skipped_caller if way.skipped_caller[0] else self._cost(step, activation)
        if not activation.module.library:
            doubtful = way.doubtful or _is_rare(step, activation)
            apart = skipped and not eager
            return Way(chain, step.condition or way.condition, doubtful, eager, caller, apart)
        doubtful = way.doubtful or _is_rare(step, activation) or _is_open(step)
        return Way(chain, way.condition or _training(step), doubtful, eager, caller)

    def _cost(self, step: Step, activation: Activation) -> tuple[str, str]:
        """What a break behind a call costs the function that calls: ("", "") when Dynamo resumes it
        there."""
        if (
            step.skips not in OF_CALLERS
            or step.skips in self.resumed
            or not activation.is_compiled_by_itself
            or not activation.function
        ):
            return "", ""
        return step.skips, activation.function


def _verdict(
    rule: Rule, problem: Problem, event: Event, way: Way, chain: Chain, hidden: bool = False
) -> Verdict:
    module, caller = chain[-1][0].module, way.skipped_caller
    condition = both(event.condition, problem.condition) or way.condition
    doubtful = way.doubtful
    if module.library:
        condition = way.condition or _training(event)
        doubtful = doubtful or _is_open(event)
    return Verdict(rule, problem, event, module, chain, hidden, condition, (), doubtful, caller)


def _keep(verdict: Verdict, found: dict[tuple, Verdict]) -> None:
    """Keep the verdict unless a surer one is known for its place."""
    if verdict.module.library:
        verdict = at_entrance(verdict)
        if verdict is None:
            return
    old = found.get(verdict.place)
    if old is None or _order(old) > _order(verdict):
        found[verdict.place] = verdict


def at_entrance(verdict: Verdict) -> Verdict | None:
    """A verdict on an installed library's code, moved to the call in the checked code that leads
    there; None when there is no such call."""
    own = [
        i
        for i, (activation, call) in enumerate(verdict.chain)
        if call is not None and not activation.module.library
    ]
    if not own or not getattr((call := verdict.chain[own[-1]][1]), "lineno", 0):
        return None
    at = own[-1]
    inside = (*verdict.chain[at:-1], (verdict.chain[-1][0], verdict.problem.node))
    problem = replace(verdict.problem, node=call, fixable=False)
    return replace(
        verdict,
        problem=problem,
        module=verdict.chain[at][0].module,
        chain=verdict.chain[: at + 1],
        inside=inside,
    )


def _range(node: ast.AST) -> tuple[int, int, int, int]:
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset


def _traced(event: Call) -> bool:
    """True when the tables of the target version of torch contradict the rule, whose pattern another
    version showed."""
    facts = load()
    if event.name not in facts.changed_calls or (fact := facts.call(event.name)) is None:
        return False
    kinds = tuple(kind(value) for value in event.args)
    verdict = fact.verdict(kinds, {name: kind(value) for name, value in event.kwargs.items()})
    return not verdict.breaks and not verdict.fails and (fact.never or verdict.certain)


def _order(verdict: Verdict) -> tuple:
    certainty = ("certain", "likely", "possible").index(verdict.problem.certainty)
    return (verdict.hidden, verdict.doubtful, certainty, bool(verdict.condition), verdict.rule.code)


def _is_open(part: Step | Event) -> bool:
    """True for a test whose outcome nobody outside of a library knows; that a model is trained is
    no secret."""
    return not _training(part) and bool(part.undecided or part.condition)


def _is_rare(step: Step, activation: Activation) -> bool:
    """True for a call that only happens where the program is debugged, or the like; one that the
    function makes on its other ways too, as around a model, is none."""
    child = step.child
    return step.rare and not any(
        other.child is not None
        and not other.rare
        and (other.child.module, other.child.line) == (child.module, child.line)
        for other in activation.steps
    )


def _training(part: Step | Event) -> str:
    """The test `self.training` that decides whether a part of a library runs; "" for any other."""
    return (
        part.condition
        if part.condition.endswith(".training") and not part.condition.startswith("not ")
        else ""
    )
