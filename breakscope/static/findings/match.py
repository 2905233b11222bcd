"""From events to problems: match the rules, follow breaks up the calls, and hide what an earlier
break hides."""

from __future__ import annotations

import ast

from msgspec.structs import replace

from breakscope.knowledge import kind, load, since
from breakscope.rulekit.events import CHOSEN, Call, Constructor, Event, Problem, Varies
from breakscope.rulekit.rule import Rule
from breakscope.rulekit.switches import switched_on
from breakscope.static.findings.listeners import Listeners
from breakscope.static.findings.verdicts import (
    Verdict,
    Way,
    is_open,
    keep,
    training_test,
    verdict_of,
)
from breakscope.static.machine.frames import Activation, Step
from breakscope.static.machine.gaps import Gaps, why
from breakscope.static.machine.given import both
from breakscope.static.project.modules import ModuleInfo
from breakscope.static.regions.region import Region

COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
# until then Dynamo resumed behind a break in one
RESUMED_BEFORE = {"loop": "2.11", "comprehension": "2.11"}

# around a call: a break in what is called skips the caller too
OF_CALLERS = ("loop", "try", "with")


class Matcher:
    """Matches the rules to the events of regions."""

    def __init__(self, listeners: Listeners) -> None:
        self.listeners = listeners
        # functions that regions reach: path and qualified name
        self.entered: set[tuple[str, str]] = set()
        self.modules: dict[str, ModuleInfo] = {}  # those of these functions, by path
        self.gaps = Gaps()  # where a rule failed
        self._settings: dict[str, frozenset[str]] = {}  # by module
        # the numbers in tensors that a region has read, each with the conditions under which
        self._read: dict[int, set[str]] = {}
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
            self._read = {}
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
        if not way.doubtful:  # else a look for its own sake finds more
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
        eager: list[Step] = []  # what Python does again because of a break behind it
        # by condition: the last step with a break that surely happens under it
        new_graph: dict[str, int] = {}
        late: list[tuple[int, Verdict]] = []
        begun = False  # compiled up to a break, though what is behind it is skipped
        for index, step in enumerate(activation.steps):
            begun = begun if skipped else last_break >= 0
            before = len(activation.steps) if skipped else last_break + 1
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
                            keep(verdict_of(rule, problem, step.event, way, chain), found)
                            skipped = True
                    any_break, last_break = any_break or not step.undecided, index
                    if not step.undecided:
                        new_graph[step.condition] = index
                    if isinstance(step.node, COMPREHENSIONS) and not _breaks_itself(step):
                        broken.add(id(step.node.generators[0].iter))
                    skipped = (
                        skipped
                        or (bool(step.skips) and step.skips not in self.resumed)
                        or not activation.is_compiled_by_itself
                    )
                    eager += activation.steps[before:index] if skipped else []
                continue
            if step.event.only_when_skipped:
                waiting.append(step.event)
                continue
            if step.made_at >= 0 and (skipped or last_break < step.made_at):
                continue  # no break came behind what made the object
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
                condition = both(step.event.condition, problem.condition)
                if problem.reads is not None and self._is_input(
                    problem, activation, new_graph, condition
                ):
                    continue
                # then Python has made the object, and given it a name
                if problem.skips == "object" and last_break >= 0:
                    problem = replace(problem, skips="")
                hidden = skipped and not (begun and type(step.event) is Varies)
                verdict = verdict_of(rule, problem, step.event, way, here, hidden)
                if problem.late and problem.skips and not skipped:
                    late.append((index, verdict))
                    continue
                keep(verdict, found)
                sure = rule.kind == "break" and problem.certainty != "possible"
                if sure and (condition or not step.event.undecided):
                    new_graph[condition] = index
                    if problem.reads is not None:
                        self._read.setdefault(id(problem.reads), set()).add(condition)
                if (
                    rule.kind == "break"
                    and not skipped
                    and problem.certainty != "possible"
                    and step.event.undecided != CHOSEN
                ):
                    any_break, last_break = any_break or not step.event.undecided, index
                    skipped = bool(problem.skips) or not activation.is_compiled_by_itself
                    begun = begun or problem.skips == "call"
                    # Dynamo compiles up to the statement, and leaves only the rest to Python
                    traced = len(waiting) if problem.skips == "call" else 0
                    eager += activation.steps[before:index] if skipped and not traced else []
        for index, verdict in late:
            if last_break < index:
                keep(verdict, found)
                any_break = any_break or not verdict.event.undecided
                skipped = True
        if way.apart or last_break >= 0:
            self._constructors(activation, way, found)
        for step in eager:
            if step.child is not None and step.child is not activation:
                chain = (*way.chain, (activation, step.node))
                into = self._way_into(step, activation, way, chain, True)
                self._constructors(step.child, into, found)
        for position, event in enumerate(waiting):
            if type(event) is Constructor:
                continue
            inside = id(event.node) in broken and event.is_skipped_with_its_iterator
            if (skipped and position >= traced and not event.is_generator) or inside:
                for rule, problem in self.problems(event, activation)[:1]:
                    keep(verdict_of(rule, problem, event, way, here), found)
        activation.is_quiet = (
            quiet and not waiting and not any(step.problems for step in activation.steps)
        )
        if activation.is_quiet:
            activation.finish()
        open_.discard(id(activation))
        if not way.eager:
            breaks[id(activation)] = (any_break, bool(way.condition) or way.doubtful)
        return any_break

    def _is_input(
        self, problem: Problem, activation: Activation, new_graph: dict[str, int], condition: str
    ) -> bool:
        """True for a number in a tensor that was computed before the graph began in which torch
        reads it, as one is that torch has read before."""
        value, steps = activation.named.get(id(problem.reads), (None, 0))
        since_step = max(new_graph.get("", -1), new_graph.get(condition, -1))
        named = value is problem.reads and steps <= since_step
        return named or not {"", condition}.isdisjoint(self._read.get(id(problem.reads), ()))

    def _constructors(self, activation: Activation, way: Way, found: dict[tuple, Verdict]) -> None:
        """The `__init__` of a module that Dynamo begins with, and those that it calls: none of them
        is traced."""
        own = activation.steps[0].event if activation.steps else None
        if type(own) is not Constructor or activation.module.library:
            return
        here = (*way.chain, (activation, None))
        for rule, problem in self.problems(own, activation)[:1]:
            keep(verdict_of(rule, problem, own, way, here), found)
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
        doubtful = way.doubtful or _is_rare(step, activation) or is_open(step)
        return Way(chain, way.condition or training_test(step), doubtful, eager, caller)

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


def _breaks_itself(step: Step) -> bool:
    """True for a generator expression in which a break stands, and not in what it calls: the
    statement is flagged for that."""
    if type(step.node) is not ast.GeneratorExp:
        return False
    problems = (pair for inner in step.child.steps for pair in inner.problems or ())
    return any(rule.kind == "break" for rule, _ in problems)


def _traced(event: Call) -> bool:
    """True when the tables of the target version of torch contradict the rule, whose pattern another
    version showed."""
    facts = load()
    if event.name not in facts.changed_calls or (fact := facts.call(event.name)) is None:
        return False
    kinds = tuple(kind(value) for value in event.args)
    verdict = fact.verdict(kinds, {name: kind(value) for name, value in event.kwargs.items()})
    return not verdict.breaks and not verdict.fails and (fact.never or verdict.certain)


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
