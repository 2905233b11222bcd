"""From events to problems: match the rules, follow breaks up the calls, and hide what an earlier
break hides."""

from __future__ import annotations

import ast
from collections.abc import Callable

from msgspec.structs import replace

from breakscope.knowledge import since
from breakscope.rulekit.events import CHOSEN, Call, Constructor, Event
from breakscope.rulekit.problem import Problem
from breakscope.rulekit.rule import Rule
from breakscope.rulekit.switches import switched_on
from breakscope.rulekit.walking import handed_generator
from breakscope.static.findings.apart import Apart
from breakscope.static.findings.exceptions import breaks_itself, is_traced
from breakscope.static.findings.listeners import Listeners
from breakscope.static.findings.made_objects import skips_caller
from breakscope.static.findings.resumed import (
    gives_back,
    held_number,
    is_returned,
    resumed,
    resumed_in_caller,
)
from breakscope.static.findings.seen import Seen, is_constructor, is_left_to_python
from breakscope.static.findings.verdicts import (
    Chain,
    Verdict,
    Way,
    is_break,
    is_difference,
    keep,
    verdict_of,
)
from breakscope.static.findings.ways import RESUMED_BEFORE, as_caller_says, way_into
from breakscope.static.machine.frames import Activation, Step
from breakscope.static.machine.gaps import Gaps, why
from breakscope.static.machine.given import both
from breakscope.static.project.modules import ModuleInfo
from breakscope.static.regions.region import Region

COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Matcher:
    """Matches the rules to the events of regions."""

    def __init__(self, listeners: Listeners) -> None:
        self.listeners = listeners
        # functions that regions reach: path and qualified name
        self.entered: set[tuple[str, str]] = set()
        self._under: dict[int, str] = {}  # by activation: the condition of a break in it
        self.modules: dict[str, ModuleInfo] = {}  # those of these functions, by path
        self.gaps = Gaps()  # where a rule failed
        self.apart = Apart()
        self._postponed: list[tuple[int, Verdict]] = []  # where a function is compiled by itself
        self._settings: dict[str, frozenset[str]] = {}  # by module
        # the numbers in tensors that a region has read, each with the conditions under which
        self._read: dict[int, set[str]] = {}
        # by activation: what breaks in it hand on that it gives back
        self._returned: dict[int, dict[int, tuple[Event, Rule, Way, Chain]]] = {}
        # by call that enters a library: what was walked behind it
        self._entrances: dict[ast.AST, dict] = {}
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
        if found and type(event) is Call and is_traced(event):
            found = [pair for pair in found if pair[0].kind != "break"]
        return sorted(found, key=lambda pair: pair[0].code) if len(found) > 1 else found

    def begin(self) -> None:
        """Start with the next file."""
        self.entered.clear()
        self.modules.clear()
        self.apart.clear()
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
        first: dict[str, tuple[Rule, Problem]] = {}
        for rule, problem in self.problems(event, activation):
            first.setdefault(rule.kind, (rule, problem))
        return list(first.values())

    def match(self, regions: list[Region]) -> list[Verdict]:
        """All verdicts of the regions, each place once, visible ones first where a place is reached
        twice."""
        found: dict[tuple, Verdict] = {}
        breaks: dict[int, tuple[bool, bool]] = {}
        self._under, self._returned, self._entrances = {}, {}, {}
        # what is known of functions that are compiled by themselves matters when it is known which they are
        for region in sorted(regions, key=lambda region: region.apart is not None):
            way = self.apart.way_to(region)
            if way is None:
                continue
            self._read = {}
            try:
                if region.apart is not None:
                    self._walk_for(region.activation, way, found, is_difference)
                    continue
                self._walk(region.activation, way, found, breaks, set())
                if region.again is not None:
                    # breaks that only the second call comes to: what recompiles, the first has shown
                    self._walk_for(region.again, Way(), found, is_break)
            except Exception as problem:
                activation = region.activation
                self.gaps.add(why(problem), activation.module.path, activation.line, region.name)
        for depth, verdict in self._postponed:
            if self.apart.has_any(part for part, _ in verdict.chain[depth:]):
                keep(verdict, found)
        self._postponed.clear()
        return list(found.values())

    def _walk_for(
        self,
        activation: Activation,
        way: Way,
        found: dict[tuple, Verdict],
        is_wanted: Callable[[Verdict], bool],
    ) -> None:
        """Add those of the verdicts of one more walk that are wanted."""
        every: dict[tuple, Verdict] = {}
        self._walk(activation, way, every, {}, set())
        for verdict in filter(is_wanted, every.values()):
            keep(verdict, found)

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
            if way.apart:  # no other way to it may have begun with it
                self._constructors(activation, way, found)
            return known[0] and not way.eager
        if id(activation) in open_:
            return False
        open_.add(id(activation))
        seen = Seen(activation, way, found, is_left_to_python(activation, way))
        quiet = True
        for index, step in enumerate(activation.steps):
            if step.child is not None:
                if step.child.is_quiet and not seen.skipped:
                    continue
                inside = seen.comes_to(step) and self._breaks_inside(step, seen, breaks, open_)
                self._match_given_back(index, step, seen)
                if inside and step.undecided != CHOSEN and not step.is_one_of_several:
                    self._note_break_inside(index, step, seen)
                elif inside or id(step.child) in self._under:
                    # what another file decides by its configuration is said there
                    if step.is_one_of_several or step.child.module is activation.module:
                        self._note_break_under(step, seen)
                    if inside and step.is_one_of_several:
                        seen.note_new_graph(step.condition, index)
                quiet = quiet and step.child.is_quiet
            elif step.event.only_when_skipped:
                seen.waiting.append(step.event)
            elif step.held_since >= 0 and (seen.skipped or seen.last_break >= step.held_since):
                continue
            # a method of what was made here, where a break came behind that
            elif step.made_at < 0 or not (seen.skipped or seen.last_break < step.made_at):
                self._match(index, step, seen)
            seen.note_end(index, step)
        for index, verdict in seen.late:
            if seen.last_break < index:
                keep(verdict, found)
                seen.any_break = seen.any_break or not verdict.event.undecided
                seen.skipped = True
        self._match_eager(seen)
        if seen.skipped_under and not seen.skipped and not way.doubtful:
            self.apart.note_left(seen)
        activation.is_quiet = (
            quiet and not seen.waiting and not any(step.problems for step in activation.steps)
        )
        if activation.is_quiet:
            activation.finish()
        open_.discard(id(activation))
        if seen.under and not seen.any_break and not activation.module.library:
            self._under[id(activation)] = seen.under
        if not way.eager:
            breaks[id(activation)] = (seen.any_break, bool(way.condition) or way.doubtful)
        return seen.any_break

    def _breaks_inside(self, step: Step, seen: Seen, breaks: dict, open_: set[int]) -> bool:
        """True when what a step calls breaks the graph each time."""
        into = way_into(step, seen, seen.skipped, self.resumed)
        child = step.child
        if child.module.library and not seen.activation.module.library:
            breaks = self._entrances.setdefault(step.node, {})  # each line that enters one counts
        breaks_ = self._walk(child, into, seen.found, breaks, open_)
        seen.broken_calls |= {step.node} if breaks_ else set()
        if (breaks_ or into.apart) and child.is_compiled_by_itself and not into.doubtful:
            self.apart.note(child, seen)
        elif not into.doubtful and (under := self._under.get(id(child))):
            self.apart.note_under(child, both(into.condition, under))
        return breaks_

    def _note_break_under(self, step: Step, seen: Seen) -> None:
        """A break that a condition decides, in what a step calls."""
        under = as_caller_says(self._under.get(id(step.child), ""), step)
        condition = "" if under is None else both(step.condition, under)
        if not condition:
            return
        if isinstance(step.node, COMPREHENSIONS):
            seen.broken_under.setdefault(id(step.node.generators[0].iter), condition)
        skips = skips_caller(step, seen, self.first_problems, condition)
        skips = skips or (bool(step.skips) and step.skips not in self.resumed)
        seen.note_break_under(condition, skips)

    def _note_break_inside(self, index: int, step: Step, seen: Seen) -> None:
        """A break in what a step calls: the caller goes on behind it, or is skipped."""
        before = seen.not_done
        if skips_caller(step, seen, self.first_problems):
            seen.skipped = True
            if seen.activation.works_between(before, index):
                # Dynamo compiles what stands before the statement, and leaves only the rest to Python
                seen.begun, seen.traced, before = True, len(seen.waiting), index
        if not step.undecided:
            seen.note_new_graph(step.condition, index)
        if isinstance(step.node, COMPREHENSIONS) and not breaks_itself(step):
            seen.broken.add(id(step.node.generators[0].iter))
        skips = seen.skipped or (bool(step.skips) and step.skips not in self.resumed)
        if not skips and (handed := handed_generator(step.node)) is not None:
            seen.cut_off.add(id(handed.generators[0].iter))
        seen.note_break(index, step.undecided, skips)
        if seen.skipped:
            seen.eager += seen.activation.steps[before:index]

    def _match(self, index: int, step: Step, seen: Seen) -> None:
        """Match the rules to an event of the frame itself."""
        event, before = step.event, seen.not_done
        if step.problems is None:
            step.problems = self.first_problems(event, seen.activation)
        for rule, problem in step.problems:
            if rule.kind == "recompile" and seen.is_idle(event):
                continue
            if problem.once is not None:
                if (rule.code, problem.once) in seen.flagged:
                    continue
                # a recompile happens by any of the places
                if not event.condition and not (event.undecided and rule.kind == "break"):
                    seen.flagged.add((rule.code, problem.once))
            condition = both(event.condition, problem.condition)
            if problem.reads is not None and self._is_input(problem, seen, condition):
                continue
            if problem.of_input is not None and not seen.is_older(problem.of_input, condition):
                continue
            # then Python has made the object, and given it a name
            if problem.skips == "object" and seen.last_break >= 0:
                problem = replace(problem, skips="")
            hidden = seen.hides(rule, event, condition) and not problem.apart
            verdict = verdict_of(rule, problem, event, seen.way, seen.here, hidden)
            if step.apart and rule.kind == "recompile":
                self._postponed.append((step.apart, verdict))
                continue
            if problem.late and problem.skips and not seen.skipped:
                seen.late.append((index, verdict))
                continue
            keep(verdict, seen.found)
            if rule.kind != "break" or problem.certainty == "possible":
                continue
            if condition and event.undecided:
                seen.note_break_under(condition, bool(problem.skips))
            if condition or not event.undecided:
                seen.note_new_graph(condition, index)
                self._match_resumed(index, step, rule, condition, seen)
                if problem.reads is not None:
                    self._read.setdefault(id(problem.reads), set()).add(condition)
            if not seen.skipped and event.undecided != CHOSEN:
                seen.note_break(index, event.undecided, bool(problem.skips))
                seen.begun = seen.begun or problem.skips == "call"
                # Dynamo compiles up to the statement, and leaves only the rest to Python
                seen.traced = len(seen.waiting) if problem.skips == "call" else 0
                if seen.skipped and not seen.traced:
                    seen.eager += seen.activation.steps[before:index]

    def _match_resumed(
        self, index: int, step: Step, rule: Rule, condition: str, seen: Seen
    ) -> None:
        """Match the rules to the code behind a break, where the region is called several times."""
        activation = seen.activation
        if not seen.is_repeated:
            return
        way = replace(seen.way, condition=condition or seen.way.condition)
        skips = step.event.skips and step.event.skips not in self.resumed
        resumes, events = not (seen.skipped or skips), []
        for earlier, of, its_way in seen.numbers if resumes else ():
            held = held_number(earlier, of, activation, step.event.node, seen.fixed)
            events.append((held, its_way))
        if resumes and activation.works_behind(index):
            events.append((resumed(step.event, rule, activation, seen.varies, seen.fixed), way))
        elif is_returned(step.event, rule, activation, seen.varies, seen.fixed):
            given = self._returned.setdefault(id(activation), {})
            given.setdefault(id(step.event), (step.event, rule, way, seen.here))
        if resumes and seen.varies:
            seen.numbers.append((step.event, rule, way))
        for event, its_way in events:
            self._keep_resumed(event, activation, its_way, seen.here, seen)

    def _keep_resumed(self, event: Event | None, activation, way: Way, here: Chain, seen) -> None:
        for found, problem in self.problems(event, activation) if event else ():
            keep(verdict_of(found, problem, event, way, here), seen.found)

    def _match_given_back(self, index: int, step: Step, seen: Seen) -> None:
        """The same of what a break inside of a call hands on that the call gives back."""
        skips = step.skips and step.skips not in self.resumed
        if seen.skipped or skips or not seen.is_repeated:
            return
        for event, rule, way, here in [*self._returned.get(id(step.child), {}).values()]:
            if seen.activation.works_behind(index):
                behind = resumed_in_caller(event, rule, seen.activation, step.node)
                self._keep_resumed(behind, step.child, way, here, seen)
            elif gives_back(seen.activation, step.node):
                given = self._returned.setdefault(id(seen.activation), {})
                given.setdefault(id(event), (event, rule, way, here))

    def _match_eager(self, seen: Seen) -> None:
        """Match the rules to what only Python comes to, behind a break or because of one."""
        activation, way, found = seen.activation, seen.way, seen.found
        if (broken := seen.way_to_break) is not None:
            self._constructors(activation, broken, found)
        for step in seen.eager:
            if step.child is not None and step.child is not activation:
                if step.child.is_compiled_by_itself and not way.doubtful and not way.eager:
                    self.apart.note(step.child, seen)
                self._constructors(step.child, way_into(step, seen, True, self.resumed), found)
        for position, event in enumerate(seen.waiting):
            if type(event) is Constructor:
                continue
            inside = id(event.node) in seen.broken and event.is_skipped_with_its_iterator
            inside = inside or (event.is_not_rebuilt and id(event.node) in seen.cut_off)
            left = seen.skipped and position >= seen.traced and not event.is_generator
            under = "" if left or inside else seen.decided_by(event, position)
            if not (left or inside or under):
                continue
            for rule, problem in self.problems(event, activation)[:1]:
                problem = replace(problem, condition=both(under, problem.condition))
                keep(verdict_of(rule, problem, event, way, seen.here), found)

    def _is_input(self, problem: Problem, seen: Seen, condition: str) -> bool:
        """True for a number in a tensor that an earlier graph has computed, or torch has read."""
        return seen.is_older(problem.reads, condition) or not {"", condition}.isdisjoint(
            self._read.get(id(problem.reads), ())
        )

    def _constructors(self, activation: Activation, way: Way, found: dict[tuple, Verdict]) -> None:
        """The `__init__` of a module that Dynamo begins with, and those it calls: none is traced."""
        if not is_constructor(activation) or activation.module.library:
            return
        own, here = activation.steps[0].event, (*way.chain, (activation, None))
        for rule, problem in self.problems(own, activation)[:1]:
            keep(verdict_of(rule, problem, own, way, here), found)
        for step in activation.steps:
            if step.child is not None and step.child is not activation:
                chain = (*way.chain, (activation, step.node))
                self._constructors(step.child, replace(way, chain=chain), found)
