"""Settings that were tried: each setting that could remove a break or a recompile, in a fresh process
of its own, and the smallest set of them that leaves least."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import msgspec

from breakscope import limits
from breakscope.dynamic.modes.run import run_target
from breakscope.dynamic.modes.trace import trace_program
from breakscope.dynamic.options import RunOptions, RunResult, Setting, TraceOptions
from breakscope.errors import UserError
from breakscope.report.model import Finding, Link, ReportError
from breakscope.report.run_modes import Proved, Tried

SCALARS = Setting(switch="capture_scalar_outputs")
SHAPES = Setting(switch="capture_dynamic_output_shape_ops")
DYNAMIC = Setting(dynamic=True)
UNSPECIALISED = Setting(switch="allow_unspec_int_on_nn_module")
# what Dynamo's reason says of a break, and the switch for it that neither reason nor hints name
BY_REASON = (
    (re.compile(r"\b(?:RNN|LSTM|GRU)\b"), Setting(switch="allow_rnn")),
    (re.compile(r"compiled autograd"), Setting(switch="compiled_autograd")),
    (re.compile(r"__build_class__|LOAD_BUILD_CLASS"), Setting(switch="enable_trace_load_build_class")),
    (
        re.compile(r"builtin operator `print`"),
        Setting(collection="reorderable_logging_functions", member="print"),
    ),
    (
        re.compile(r"\bwarnings\.warn\b"),
        Setting(collection="reorderable_logging_functions", member="warnings.warn"),
    ),
)  # fmt: skip
LOGGER = re.compile(r"logging\.Logger method")
LOGGED = re.compile(r"\.(?P<method>debug|info|warning|error|exception|critical|log)\(")
SIZES = ("size", "int_argument", "float_argument", "stride")
MARKED = re.compile(r"mark_dynamic\((?P<name>[A-Za-z_]\w*), (?P<dims>\[[\d, ]+\]|\d+)\)")


def prove(options: RunOptions, first: RunResult) -> RunResult:
    """The first run's result with what became of each setting that its findings suggest."""

    def run(settings: tuple[Setting, ...]) -> RunResult:
        tried = replace(
            options,
            explain=False,
            settings=settings,
            phase=f"prove, {' and '.join(setting.line for setting in settings)}",
        )
        try:
            return run_target(tried)
        except UserError as refused:  # this torch has no such switch
            return replace(first, errors=(ReportError(message=str(refused)),))

    return _proved(first, settings_for(first), run, limits.PROOFS_AT_ONCE)


def prove_program(
    options: TraceOptions, first: RunResult, say: Callable[[str], None] | None
) -> RunResult:
    """As `prove`, of a program: it is run once more for each setting, one after the other, as it may
    need what only one process can have; `say` receives what is being tried."""

    def run(settings: tuple[Setting, ...]) -> RunResult:
        if say is not None:
            say(f"prove: runs again with {' and '.join(setting.line for setting in settings)}")
        tried = replace(options, keep="", prove=False, settings=settings, silent=True)
        return trace_program(tried, None)

    # what a program passes cannot be marked from outside; `dynamic=True` says as much
    candidates = tuple(s for s in settings_for(first) if not s.argument)
    return _proved(first, candidates, run, 1)


def _proved(
    first: RunResult,
    candidates: Sequence[Setting],
    run: Callable[[tuple[Setting, ...]], RunResult],
    at_once: int,
) -> RunResult:
    if first.errors:
        return first
    if not candidates:
        return _with(first, Proved(before=_left(first), after=_left(first)))
    each = [(setting,) for setting in candidates]
    if at_once == 1:
        alone = list(map(run, each))  # in the main thread, which alone has signals
    else:
        with ThreadPoolExecutor(max_workers=at_once) as pool:
            alone = list(pool.map(run, each))
    tried = [_tried(first, (s,), ran) for s, ran in zip(candidates, alone, strict=True)]
    best, after = _smallest(first, candidates, alone, run)
    return _with(
        first,
        Proved(
            tried=tuple(tried),
            lines=tuple(setting.line for setting in best),
            before=_left(first),
            after=_left(after),
            compile_seconds=first.run.compile_seconds,
            compile_seconds_after=after.run.compile_seconds,
        ),
    )


def settings_for(ran: RunResult) -> tuple[Setting, ...]:
    """The settings that may remove what a run found, those that the run did not have already."""
    breaks = [f for f in ran.findings if f.kind == "break"]
    recompiles = [f for f in ran.findings if f.kind == "recompile"]
    families = {family for f in recompiles for family in f.dynamo}
    found: list[Setting] = []
    if breaks:
        found += [SCALARS, SHAPES]
        found += [Setting(switch=name) for name in ran.named_switches]
    for finding in breaks:
        found += [setting for reason, setting in BY_REASON if reason.search(finding.reason)]
        if LOGGER.search(finding.reason):
            found += _loggers(finding)
    if "attribute" in families or "none_argument" in families:
        found.append(UNSPECIALISED)
    if families & {*SIZES, "attribute", "other"} or any(
        f.lost == "recompile limit" for f in recompiles
    ):
        found.append(DYNAMIC)
    for finding in recompiles:
        if marked := MARKED.search(finding.help):
            dims = tuple(int(n) for n in re.findall(r"\d+", marked["dims"]))
            found.append(Setting(argument=marked["name"], dimensions=dims))
    return tuple(dict.fromkeys(s for s in found if s.switch not in ran.switches or not s.switch))


def _loggers(finding: Finding) -> list[Setting]:
    line = finding.line - finding.first_source_line
    text = finding.source[line] if 0 <= line < len(finding.source) else ""
    return [
        Setting(collection="ignore_logging_functions", member=f"logging.Logger.{found['method']}")
        for found in LOGGED.finditer(text)
    ]


def _smallest(
    first: RunResult,
    candidates: Sequence[Setting],
    alone: Sequence[RunResult],
    run: Callable[[tuple[Setting, ...]], RunResult],
) -> tuple[tuple[Setting, ...], RunResult]:
    """The fewest settings that leave least: one where that is enough, else all that do no harm less
    each that is not needed."""
    ways: list[tuple[tuple[Setting, ...], RunResult]] = [((), first)]
    ways += [((s,), ran) for s, ran in zip(candidates, alone, strict=True)]
    best = min(ways, key=_rank)
    if len(candidates) == 1 or _amount(best[1]) == 0:
        return best
    together = _in_turn(candidates, alone)
    if len(together) > 1:
        every = (together, run(together))
        if _harm(every[1]) < _harm(best[1]):
            best = every
            for setting in together:
                fewer = tuple(s for s in best[0] if s != setting)
                if len(fewer) < 2:
                    break
                without = (fewer, run(fewer))
                if _harm(without[1]) <= _harm(best[1]):
                    best = without
    return best


def _in_turn(candidates: Sequence[Setting], alone: Sequence[RunResult]) -> tuple[Setting, ...]:
    """The settings that raised nothing by themselves; marking an argument says no more than
    `dynamic=True`."""
    usable = [s for s, ran in zip(candidates, alone, strict=True) if not ran.errors]
    return tuple(s for s in usable if not (s.argument and DYNAMIC in usable))


def _rank(way: tuple[tuple[Setting, ...], RunResult]) -> tuple:
    settings, ran = way
    return (*_harm(ran), len(settings), any(s.argument for s in settings))


def _harm(ran: RunResult) -> tuple:
    return bool(ran.errors), _amount(ran)


def _amount(ran: RunResult) -> int:
    return sum(_left(ran))


def _left(ran: RunResult) -> tuple[int, int]:
    """Break sites, and recompiles."""
    breaks = sum(f.kind == "break" for f in ran.findings)
    return breaks, sum(max(f.count, 1) for f in ran.findings if f.kind == "recompile")


def _tried(first: RunResult, settings: tuple[Setting, ...], ran: RunResult) -> Tried:
    before, now = _sites(first.findings), _sites(ran.findings)
    return Tried(
        setting=" and ".join(setting.line for setting in settings),
        gone=tuple(link for site, link in before.items() if site not in now),
        appeared=tuple(link for site, link in now.items() if site not in before),
        left=_left(ran),
        compile_seconds=ran.run.compile_seconds,
        problem=ran.errors[0].message if ran.errors else "",
    )


def _sites(findings: Iterable[Finding]) -> dict[tuple, Link]:
    return {
        (f.kind, f.path, f.line, f.dynamo if f.kind == "recompile" else ()): Link(
            path=f.path, line=f.line, function=f.function
        )
        for f in findings
    }


def _with(first: RunResult, proved: Proved) -> RunResult:
    return replace(first, run=msgspec.structs.replace(first.run, proved=proved))
