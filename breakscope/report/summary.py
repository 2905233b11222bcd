"""The report in one line: how bad is it?"""

from __future__ import annotations

from collections import Counter

from breakscope import limits
from breakscope.report.fixes import Fixes
from breakscope.report.model import SEEN, Cost, Finding, Gap, Report, Run
from breakscope.report.run_modes import Process


def count(number: int, singular: str, plural: str = "") -> str:
    """ "1 break", "3 breaks"."""
    return f"{number} {singular if number == 1 else plural or singular + 's'}"


def _breaks_cost(cost: Cost) -> str:
    if cost.step_seconds is not None and cost.step_seconds < 0:
        more = duration(-cost.step_seconds)
        return f"as one graph a step would take {more} more{_interval(cost)}"
    return f"the breaks cost {per_step(cost)}"


def per_step(cost: Cost) -> str:
    """ "1.8 ms per step (1.7 ms to 1.9 ms)"; "" when it was not measured. Of a step that breaks
    make quicker: "-1.8 ms"."""
    if cost.step_seconds is None:
        return ""
    sign = "-" if cost.step_seconds < 0 else ""
    return f"{sign}{duration(abs(cost.step_seconds))} per step{_interval(cost)}"


def _interval(cost: Cost) -> str:
    if cost.step_interval is None:
        return ""
    ends = sorted((abs(cost.step_interval.low), abs(cost.step_interval.high)))
    return f" ({duration(ends[0])} to {duration(ends[1])})"


def duration(seconds: float) -> str:
    """ "1.8 ms", "12 s"."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            count = seconds / size
            return f"{count:.2g} {unit}" if count < 99.5 else f"{count:.0f} {unit}"
    return "0 s" if seconds <= 0 else "under 1 us"


def summary(report: Report) -> str:
    """One line on the findings, and for a run on what became of the program, with what else is to
    be said."""
    return " ".join(filter(None, (how_bad(report), asides(report))))


def asides(report: Report) -> str:
    """What became of predictions, and what is not shown; "" for nothing."""
    return " ".join(filter(None, (_joined(report), _fixes(report), _hidden(report))))


def how_bad(report: Report) -> str:
    """One line on the findings, and for a run on what became of the program."""
    done = fixes_text(report.fixes) if report.fixes else ""
    if not (report.findings or report.errors or report.gaps or report.run):
        return " ".join(filter(None, (done, _nothing(report))))
    parts = []
    if report.regions:
        parts.append(count(report.regions, "region"))
    if report.run is not None:
        if len(report.run.processes) > 1:
            parts.append(_processes(report.run.processes))
        if report.run.status != "not-run":
            parts.append(count(len(report.run.graphs), "graph"))
        if report.run.processes and report.run.compile_seconds:
            parts.append(_compiling(report.run))
    parts += _found(report)
    if report.run is not None and report.run.lost_frames:
        parts.append(f"{count(len(report.run.lost_frames), 'frame')} skipped")
    line = ", ".join(parts)
    if report.run is not None and report.run.share_compiled is not None:
        line += f"; {report.run.share_compiled * 100:.0f}% of op time compiled"
    if report.run is not None and report.run.host_syncs:
        line += (
            f"; {count(sum(sync.count for sync in report.run.host_syncs), 'host sync')} per step"
        )
    if report.run is not None and report.run.breaks_cost is not None:
        line += f"; {_breaks_cost(report.run.breaks_cost)}"
    return f"{done} {line}." if done else f"{line}."


def fixes_text(fixes: Fixes) -> str:
    """What was fixed, in one sentence."""
    if not fixes.fixed:
        return "Nothing to fix." if not fixes.not_fixed else "Nothing fixed."
    kinds = Counter(place.code for place in fixes.fixed)
    codes = ", ".join(f"{code} ({n})" if n > 1 else code for code, n in sorted(kinds.items()))
    verb = "Fixed" if fixes.written else "Would fix"
    places, files = count(len(fixes.fixed), "place"), count(len(fixes.files), "file")
    return f"{verb} {places} in {files}: {codes}."


def gap_text(gap: Gap) -> str:
    """Why the analysis gave up, and in which function."""
    return f"{gap.message} (in `{gap.function}`)" if gap.function else gap.message


def _news(report: Report) -> str:
    return "new " if report.baseline and report.baseline.known else ""


def _nothing(report: Report) -> str:
    if not report.regions and report.files and report.run is None:
        files = count(report.files, "file")
        return (
            f"no compiled code in the source of {files}; name what you compile with `--entry FILE::NAME`, or run it: "
            "`breakscope trace -- python FILE`."
        )
    return f"no {_news(report)}breaks in {count(report.regions, 'region')} of {count(report.files, 'file')}."


def _processes(processes: tuple[Process, ...]) -> str:
    ranks = sum(process.rank is not None for process in processes)
    others = len(processes) - ranks
    if not ranks:
        return count(others, "process", "processes")
    return count(ranks, "rank") + (
        f" and {count(others, 'other process', 'other processes')}" if others else ""
    )


def _compiling(run: Run) -> str:
    """The seconds that a traced program compiled, and what of them went into attempts that were
    begun again."""
    text = f"{duration(run.compile_seconds)} of compiling"
    if not run.restarts:
        return text
    return f"{text} ({count(len(run.restarts), 'restart')}, {duration(sum(restart.seconds for restart in run.restarts))})"


def _found(report: Report) -> list[str]:
    shown = [f for f in report.findings if f.evidence != "refuted"]
    breaks = [f for f in shown if f.kind == "break"]
    # at its limit nothing is compiled again: the frame is among those skipped
    limited = [f for f in shown if f.kind == "recompile" and f.lost == "recompile limit"]
    recompiles = [f for f in shown if f.kind == "recompile" and f not in limited]
    seen = sum(f.count for f in breaks if f.evidence in SEEN)
    parts = [
        count(len(breaks), f"{_news(report)}break") + (f" ({count(seen, 'event')})" if seen else "")
    ]
    if inside := sum(bool(f.library) for f in breaks):
        parts.append(f"{inside} of them in {_libraries(breaks)}")
    if hidden := sum(bool(f.behind) for f in breaks):
        parts.append(f"{hidden} of them hidden behind others")
    if recompiles:
        parts.append(_recompiles([f for f in recompiles if f.evidence in SEEN], len(recompiles)))
    if raising := sum(f.kind == "error" for f in shown):
        parts.append(count(raising, "compile that raises", "compiles that raise"))
    if others := len(shown) - len(breaks) - len(recompiles) - len(limited) - raising:
        parts.append(count(others, "other finding"))
    if report.errors:
        parts.append(count(len(report.errors), "error"))
    if report.gaps:
        parts.append(f"{count(len(report.gaps), 'gap')} in the analysis")
    return parts


def _libraries(findings: list[Finding]) -> str:
    names = sorted({f.library for f in findings} - {""})
    return " and ".join(names) if len(names) < 3 else f"{len(names)} libraries"


def _recompiles(seen: list[Finding], found: int) -> str:
    events = sum(f.count for f in seen)
    parts = (
        [
            count(len(seen), "recompile")
            + (f" ({count(events, 'event')})" if events > len(seen) else "")
        ]
        if seen
        else []
    )
    if found > len(seen):
        parts.append(count(found - len(seen), "recompile hazard"))
    return ", ".join(parts)


def _joined(report: Report) -> str:
    """What became of the predictions in the run; nothing when nothing was predicted or nothing ran."""
    if report.run is None:
        return ""
    confirmed = sum(f.evidence == "confirmed" and f.kind == "break" for f in report.findings)
    if not (confirmed or report.missed or report.refuted):
        return ""
    return f"Source analysis: {confirmed} confirmed by the run, {report.missed} missed, {report.refuted} refuted."


def _fixes(report: Report) -> str:
    fixable = sum(f.fix is not None for f in report.findings)
    return f"{fixable} with a suggested rewrite (--show-fixes)." if fixable else ""


def _hidden(report: Report) -> str:
    why = f"only possible, {'refuted, ' if report.refuted else ''}silenced or not selected"
    hidden = f"{report.hidden} hidden ({why})." if report.hidden else ""
    known = f"{report.baseline.known} in the baseline." if report.baseline else ""
    return " ".join(filter(None, (elsewhere_text(report), known, hidden)))


def elsewhere_text(report: Report) -> str:
    """How many findings stand in files that were not asked for, and in which; "" for none."""
    if not report.elsewhere:
        return ""
    named = [
        f"{at.path} ({at.findings})" if len(report.elsewhere) > 1 else at.path
        for at in report.elsewhere[: limits.MOST_NAMED_FILES]
    ]
    if left := len(report.elsewhere) - len(named):
        named.append(count(left, "more file"))
    files = "a file that was" if len(report.elsewhere) == 1 else "files that were"
    found = count(sum(at.findings for at in report.elsewhere), "finding")
    return f"{found} in {files} not asked for: {', '.join(named)} (--follow shows them)."
