"""Breaks behind breaks: run again with the found ones neutralised, until a run shows no new one.

A function with a break in a loop, a `try` or a `with` is skipped as a whole, and what else would
break in it is not seen. So the found places are changed in memory, in a process of its own, and the
target runs again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from breakscope.dynamic.modes.cost_per_break import with_cost_per_break
from breakscope.dynamic.modes.run import run_target
from breakscope.dynamic.options import Neutral, RunOptions, RunResult
from breakscope.dynamic.source_text import SourceFile
from breakscope.report.model import Finding, Link
from breakscope.report.run_modes import Peeled
from breakscope.report.summary import count

# Dynamo's reason where a value could not be computed for real: ours, and no break of the program.
OWN_REASONS = ("assume_constant_result", "trying to get real value")
# Its reason at an exception, which eager does not raise: something is missed that a neutralised
# statement does.
ERRORS, LEFT_OUT = (
    ("Observed exception", "RuntimeError when making fake tensor call"),
    ("left out", "not stored"),
)


@dataclass
class _Place:
    """A break's place while it is peeled. `waits`: a break stands in what it calls, and may be its
    cause; `stubborn`: no way to neutralise it was left."""

    neutral: Neutral
    finding: Finding
    waits: bool = False
    stubborn: bool = False


@dataclass
class _Peeling:
    """All that is known so far; places by (path, line, column, end)."""

    places: dict[tuple, _Place] = field(default_factory=dict)
    sites: set[tuple] = field(default_factory=set)  # (path, statement, id) of every break
    hidden: list[Finding] = field(default_factory=list)
    problem: str = ""

    def add(self, found: Iterable[Finding]) -> bool:
        """Take in places that are not known yet; whether there were any."""
        new = [f for f in found if _place(f) not in self.places]
        calling = {(link.path, link.line) for finding in new for link in finding.chain[:-1]}
        for finding in new:
            branch = any(
                word in finding.reason
                for word in ("Data-dependent branching", "Data-dependent jump", "generic_jump")
            )
            neutral = Neutral(
                path=str(Path(finding.path).resolve()),
                line=finding.line,
                column=finding.column,
                end_column=finding.end_column,
                branch=branch,
            )
            self.places.setdefault(
                _place(finding),
                _Place(neutral, finding, waits=(finding.path, finding.line) in calling),
            )
            self.sites.add(_site(finding))
        return bool(new)

    def tried(self) -> list[_Place]:
        return [place for place in self.places.values() if not place.stubborn and not place.waits]


def peel(options: RunOptions, first: RunResult, rounds: int) -> RunResult:
    """The first run's result with the breaks that stood behind its breaks, after at most `rounds`
    further runs.

    A hidden break names in `behind` what had to be neutralised first; it has no count and no cost.
    """
    state = _Peeling()
    state.add(_breaks(first))
    if not state.places:
        return _with(first, state, Peeled(rounds=0, complete=first.run.status == "ok"))
    differs, done, complete, tried = "", 0, False, []
    while done < rounds and not complete and not state.problem and state.tried():
        tried = state.tried()
        ran = run_target(
            replace(
                options,
                backend="eager",
                explain=False,
                vary=False,
                phase=f"peel, run {done + 1} of {rounds} at most, {count(len(tried), 'break')} neutralised",
                neutralise=tuple(place.neutral for place in tried),
            )
        )
        done += 1
        moved = _next_ways(tried, ran)
        differs = ran.differs or differs
        again = _take_in(state, tried, ran, moved) or bool(moved)
        if ran.run.status != "ok" and not again:
            state.problem = next((error.message for error in ran.errors), "") or ran.run.status
        complete = not again
    first = with_cost_per_break(
        options,
        first,
        [
            (place.finding, place.neutral)
            for place in state.places.values()
            if place.finding in first.findings and not place.stubborn and not place.waits
        ],
    )
    stubborn = tuple(_link(place.finding) for place in state.places.values() if place.stubborn)
    return _with(
        first,
        state,
        Peeled(
            rounds=done,
            complete=complete and not stubborn and not state.problem,
            hidden=len(state.hidden),
            neutralised=sum(not place.stubborn for place in tried),
            stubborn=stubborn,
            differs=differs,
            problem=state.problem,
        ),
    )


def _next_ways(tried: list[_Place], ran: RunResult) -> list[_Place]:
    """The places whose way raised an error, which get another way. Those where there was none are
    stubborn."""
    moved = []
    for done in ran.neutralised:
        place = tried[done.number]
        if not done.way:
            place.stubborn = True
        elif done.problem and ran.run.status != "ok":
            place.neutral = replace(place.neutral, attempt=place.neutral.attempt + 1)
            moved.append(place)
    reached = {done.number for done in ran.neutralised}
    # its file was not imported from source, or earlier than we could change it
    for number, place in enumerate(tried):
        place.stubborn = place.stubborn or (ran.run.status == "ok" and number not in reached)
    return moved


def _take_in(state: _Peeling, tried: list[_Place], ran: RunResult, moved: list[_Place]) -> bool:
    """Whether the run showed something new: a place, or a known one that broke all the same."""
    known = {_place(place.finding): place for place in tried}
    waiting = {key: place for key, place in state.places.items() if place.waits}
    earlier = [place.finding for place in state.places.values() if not place.stubborn]
    left_out = [tried[done.number] for done in ran.neutralised if done.way in LEFT_OUT]
    fresh, failed = [], []
    for finding in _breaks(ran):
        place = known.get(_place(finding))
        if place is not None:
            failed.append(place)
        elif _place(finding) in waiting:  # what it calls is not the cause
            waiting[_place(finding)].waits = False
        elif finding.reason.startswith(ERRORS) or not finding.dynamo:
            failed += left_out
            if not left_out:
                state.problem = (
                    f"{finding.path}:{finding.line} does not work without what was neutralised"
                )
        elif not any(word in finding.reason for word in OWN_REASONS):
            fresh.append(finding)
    failed = list(
        {id(place): place for place in failed if not place.stubborn and place not in moved}.values()
    )
    for place in failed:
        place.neutral = replace(place.neutral, attempt=place.neutral.attempt + 1)
    for finding in fresh:
        if _site(finding) not in state.sites:
            state.hidden.append(
                msgspec.structs.replace(
                    finding,
                    behind=tuple(_link(f) for f in _hiding(finding, earlier)),
                    count=0,
                    cost=None,
                )
            )
    return state.add(fresh) or bool(failed) or any(not place.waits for place in waiting.values())


def _hiding(hidden: Finding, earlier: list[Finding]) -> list[Finding]:
    """Which breaks hid this one: those for which a function on the way to it is skipped, else any
    for which one is, else all."""
    functions = {(link.path, link.function) for link in hidden.chain} | {
        (hidden.path, hidden.function)
    }
    skipping = [f for f in earlier if f.lost]
    near = [f for f in skipping if (f.path, f.function) in functions]
    return list({(f.path, f.line): f for f in near or skipping or earlier}.values())


def _with(first: RunResult, state: _Peeling, peeled: Peeled) -> RunResult:
    findings = tuple(sorted((*first.findings, *state.hidden), key=Finding.place))
    return replace(first, findings=findings, run=msgspec.structs.replace(first.run, peeled=peeled))


def _breaks(ran: RunResult) -> list[Finding]:
    return [f for f in ran.findings if f.kind == "break"]


def _place(finding: Finding) -> tuple:
    return (finding.path, finding.line, finding.column, finding.end_column)


def _site(finding: Finding) -> tuple:
    """What counts as one break: Dynamo names now one and now another line of a condition over
    several lines."""
    return (
        finding.path,
        SourceFile.read(finding.path).statement(finding.line)[0],
        finding.dynamo or finding.reason,
    )


def _link(finding: Finding) -> Link:
    return Link(path=finding.path, line=finding.line, function=finding.function)
