"""Tests that limit what torch.compile may do: watching their calls, judging and summing up what was
seen."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Any

import pytest
from msgspec import Struct
from msgspec.structs import asdict

from breakscope.dynamic.capture.in_process import LOGGER
from breakscope.integrations.graph_baseline import Baseline, as_json, in_words, is_worse
from breakscope.report.comparing.difference import Difference
from breakscope.report.model import SEEN, Report
from breakscope.report.summary import count, duration
from breakscope.workflows.live_run import forget_compiled
from breakscope.workflows.watch import as_text, watching


class Limits(Struct, frozen=True, kw_only=True):
    """What is allowed; None is any number. `single`: all calls are one graph, of one frame."""

    max_breaks: int | None = 0
    max_recompiles: int | None = None
    single: bool = False


class Seen(Struct, frozen=True, kw_only=True):
    """What a block did, for the summary."""

    graphs: int
    breaks: int
    recompiles: int
    compile_seconds: float
    places: tuple[str, ...]  # that break, or are compiled again
    exceeded: tuple[str, ...]
    accepted: bool = False  # more than is allowed, and not more than in the baseline


class Blocks:
    """The blocks of one test whose compiles are limited. With `keeps` their reports are kept as
    JSON."""

    def __init__(self, item: pytest.Item, baseline: Baseline | None, keeps: bool) -> None:
        self.seen: list[dict[str, Any]] = []
        self.kept: list[str] = []
        self._item = item
        self._baseline = baseline
        self._keeps = keeps
        self._open = 0

    @contextmanager
    def graph(self, limits: Limits | None = None, /, *args: Any, **given: Any) -> Iterator[Report]:
        """Watch the block, and fail the test where it does more than is allowed; the report is
        filled when the block ends.

        What was compiled before is forgotten, so that the result does not depend on which tests ran
        before this one; not so inside of another block, where it would be lost for that one.
        """
        __tracebackhide__ = True
        if not isinstance(limits, Limits):
            args = args if limits is None else (limits, *args)
            limits = limits_of(args, given, "breakscope.graph")
        if not self._open:
            forget_compiled()
        problem, report = None, None
        self._open += 1
        try:
            with _not_logged(), watching(self._item.nodeid, (), True) as report:
                yield report
        except BaseException as raised:
            problem = raised
            raise
        finally:
            self._open -= 1
            failure = "" if report is None else self._judged(report, limits, problem)
        if failure:
            pytest.fail(failure, pytrace=False)

    def _judged(self, report: Report, limits: Limits, problem: BaseException | None) -> str:
        """Note what was seen; why the test fails for it, "" where it does not. A test that fails by
        itself shows what was seen beside its own failure."""
        if isinstance(problem, pytest.skip.Exception):
            return ""
        exceeded = exceeding(report, limits) if problem is None else []
        changed = self._difference(report) if exceeded else None
        accepted = changed is not None and not is_worse(changed)
        self.seen.append(asdict(seen_in(report, tuple(exceeded), accepted)))
        if self._keeps:
            self.kept.append(as_json(report))
        if problem is not None and report.findings:
            self._item.add_report_section("call", "breakscope", as_text(report))
        if not exceeded or accepted:
            return ""
        against = f"\n{in_words(changed)}" if changed is not None else ""
        return f"graph: {'; '.join(exceeded)}\n\n{as_text(report)}{against}"

    def _difference(self, report: Report) -> Difference | None:
        if self._baseline is None or report.run is None or report.run.status != "ok":
            return None
        return self._baseline.difference(self._item.nodeid, len(self.seen), report)


@contextmanager
def _not_logged() -> Iterator[None]:
    """pytest listens to every logger, and would show Dynamo's trace, whose texts are empty, with
    each failure."""
    logger = logging.getLogger(LOGGER)
    taken = [h for h in logger.handlers if type(h).__module__.startswith("_pytest.")]
    for handler in taken:
        logger.removeHandler(handler)
    try:
        yield
    finally:
        for handler in taken:
            logger.addHandler(handler)


def limits_of(args: Sequence[Any], given: Mapping[str, Any], name: str) -> Limits:
    """The limits of a marker or call; fails the test where they are wrong."""
    names = Limits.__struct_fields__
    wrong = ""
    if args:
        wrong = f"takes names, such as max_breaks=0, and not {args[0]!r}"
    for key, value in given.items():
        if key not in names:
            near = get_close_matches(key, names, n=1)
            advice = f"did you mean {near[0]}?" if near else f"there are {', '.join(names)}"
            wrong = wrong or f"takes no {key!r}; {advice}"
        elif key == "single":
            if not isinstance(value, bool):
                wrong = wrong or f"takes True or False for single, not {value!r}"
        elif value is not None and (
            isinstance(value, bool) or not isinstance(value, int) or value < 0
        ):
            wrong = wrong or f"takes a number from 0 on, or None, for {key}, not {value!r}"
    if wrong:
        pytest.fail(f"{name} {wrong}", pytrace=False)
    return Limits(**given)


def exceeding(report: Report, limits: Limits) -> list[str]:
    """What is more than allowed, each in a few words."""
    run = report.run
    if run is None:  # a failure of ours: the errors say which
        return [error.message for error in report.errors] or ["nothing was captured"]
    if run.status == "no-capture":
        return ["the test compiled nothing, so nothing was seen"]
    if run.status != "ok":
        return []
    found = []
    seen = seen_in(report)
    if limits.max_breaks is not None and seen.breaks > limits.max_breaks:
        found.append(f"{count(seen.breaks, 'break')}, {limits.max_breaks} allowed")
    if limits.max_recompiles is not None and seen.recompiles > limits.max_recompiles:
        found.append(f"{count(seen.recompiles, 'recompile')}, {limits.max_recompiles} allowed")
    frames = {graph.compile_id.partition("/")[0]: graph for graph in run.graphs}
    if limits.single and len(frames) != 1:
        places = ", ".join(f"{g.function} at {g.path}:{g.line}" for g in frames.values())
        found.append(
            f"{count(len(frames), 'graph')}, 1 wanted" + (f" ({places})" if places else "")
        )
    if limits.single and run.lost_frames:
        names = ", ".join(f"`{frame.function}`" for frame in run.lost_frames)
        found.append(f"{count(len(run.lost_frames), 'frame')} skipped ({names}), 0 allowed")
    return found


def seen_in(report: Report, exceeded: tuple[str, ...] = (), accepted: bool = False) -> Seen:
    run = report.run
    found = [f for f in report.findings if f.evidence in SEEN]
    return Seen(
        graphs=len(run.graphs) if run else 0,
        breaks=sum(f.kind == "break" for f in found),
        recompiles=len(run.recompiles) if run else 0,
        compile_seconds=run.compile_seconds if run else 0.0,
        places=tuple(f"{f.path}:{f.line} {f.code}" for f in found),
        exceeded=exceeded,
        accepted=accepted,
    )


def summary(tests: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[str]:
    """One line for each test, those first that do more than is allowed, then the sum."""
    if not tests:
        return ["no test limits what torch.compile does (pytest.mark.graph)"]
    rows = {name: [Seen(**block) for block in blocks] for name, blocks in tests.items()}
    order = sorted(rows, key=lambda name: (not _exceeded(rows[name]), name))
    lines = []
    for name in order:
        more = _exceeded(rows[name])
        known = "; as in the baseline" if any(block.accepted for block in rows[name]) else ""
        fails = f"; fails: {more}" if more else ""
        lines.append(f"{name}: {_figures(rows[name])}{known}{fails}")
    every = [block for blocks in rows.values() for block in blocks]
    over = sum(bool(_exceeded(blocks)) for blocks in rows.values())
    within = f"{over} beyond their limits" if over else "all within their limits"
    return [*lines, f"{count(len(rows), 'test')}, {within}: {_figures(every)}"]


def _exceeded(blocks: Sequence[Seen]) -> str:
    return "; ".join(text for block in blocks if not block.accepted for text in block.exceeded)


def _figures(blocks: Sequence[Seen]) -> str:
    places = sorted({place for block in blocks for place in block.places})
    return ", ".join(
        [
            count(sum(block.graphs for block in blocks), "graph"),
            count(sum(block.breaks for block in blocks), "break"),
            count(sum(block.recompiles for block in blocks), "recompile"),
            f"{duration(sum(block.compile_seconds for block in blocks))} of compiling",
        ]
    ) + (f" ({', '.join(places)})" if places else "")
