"""What the text format shows of a finding besides its message, in words: advice, evidence and cost,
how it is reached, and notes. One fact is one text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import takewhile

from breakscope import limits
from breakscope.report import frames
from breakscope.report.conditions import only_when
from breakscope.report.formats.of_runs.fake import export, under
from breakscope.report.model import Cost, Finding, Link
from breakscope.report.summary import count, duration, per_step
from breakscope.texts import shortened


def advice(finding: Finding) -> str:
    """What to write instead."""
    safety = f"({finding.fix.safety} fix)" if finding.fix else ""
    return " ".join(part for part in (finding.help, safety) if part)


def how_sure(finding: Finding) -> str:
    """ " (likely)", behind the message of a prediction that is not certain."""
    is_sure = finding.evidence != "predicted" or finding.confidence == "certain"
    return "" if is_sure else f" ({finding.confidence})"


def seen(finding: Finding, is_brief: bool = False) -> str:
    """What a run saw of it: evidence, number, cost; "" of what is only predicted. In brief the
    first of the ids, and one cost without its interval."""
    if finding.evidence == "predicted":
        return ""
    ids, cost = _ids(finding, is_brief), finding.cost
    if is_brief and cost is not None and cost.step_seconds is not None:
        cost = Cost(step_seconds=cost.step_seconds)
    parts = [f"{finding.evidence} ({ids})" if ids else finding.evidence]
    if finding.count:
        parts.append(count(finding.count, "event"))
    settled = [finding.settled] if finding.settled else []
    return ", ".join([*parts, *settled, *_syncs(finding), *costs(cost)])


def notes(finding: Finding) -> Iterator[str]:
    """What else is to be known, the most important first."""
    yield only_when(finding)
    yield behind(finding)
    yield under(finding)
    yield also(finding)
    yield other_causes(finding)
    yield places(finding)
    yield export(finding)
    yield guard(finding)


def _syncs(finding: Finding) -> list[str]:
    return [f"{count(finding.host_syncs, 'host sync')} per step"] if finding.host_syncs else []


def _ids(finding: Finding, is_brief: bool) -> str:
    """GB ids of a break; of a recompile the families of guards, in words."""
    ids = finding.dynamo
    if finding.kind == "recompile":
        ids = tuple(family.replace("_", " ") for family in ids)
    if is_brief and len(ids) > 1:
        return f"{ids[0]} and {len(ids) - 1} more"
    return ", ".join(ids)


def costs(cost: Cost | None) -> list[str]:
    """What a step and what compiling costs."""
    if cost is None:
        return []
    parts = []
    if cost.step_seconds is not None:
        parts.append(per_step(cost))
    if cost.compile_seconds is not None:
        parts.append(f"{duration(cost.compile_seconds)} of compiling")
    return parts


def skipped(finding: Finding, short: bool) -> str:
    """That Dynamo skips a frame, and unless `short` why; nothing where it does not, or where the
    message is about that."""
    if not finding.lost or finding.lost == "recompile limit":
        return ""
    function = finding.lost_function or finding.function or "the frame"
    if short:
        return f"`{function}` is {frames.outcome(finding.lost)}"
    return frames.sentence(function, finding.lost)


def behind(finding: Finding) -> str:
    """Which break must go before this one is met: the last that was neutralised, and how many
    before it."""
    if not finding.behind:
        return ""
    last, others = finding.behind[-1], len(finding.behind) - 1
    place = f"line {last.line}" if last.path == finding.path else f"{last.path}:{last.line}"
    return f"hidden behind the break at {place}" + (
        f" and {count(others, 'other')}" if others else ""
    )


def also(finding: Finding) -> str:
    """How much else the finding stands for."""
    if not finding.also:
        return ""
    if finding.inside is not None:
        return f"{count(len(finding.also), 'more break')} inside this call"
    return f"{len(finding.also)} more on this line"


def guard(finding: Finding) -> str:
    """The guard that failed, with the values that it met, where the message does not name it."""
    if not finding.guard or finding.guard in finding.names:
        return ""
    shown = (
        *finding.values[: limits.MOST_SHOWN_VALUES],
        *(("...",) if len(finding.values) > limits.MOST_SHOWN_VALUES else ()),
    )
    further = len(finding.values) > 1 and any(v not in finding.guard for v in finding.values)
    values = f" (values: {', '.join(shown)})" if further else ""
    text = shortened(" ".join(finding.guard.split()), limits.LONGEST_EXCEPTION_TEXT)
    return f"guard: {text}{values}"


def other_causes(finding: Finding) -> str:
    """What would compile it again without the first cause."""
    return f"also: {', '.join(finding.other_causes)}" if finding.other_causes else ""


def places(finding: Finding) -> str:
    """Where else the same cause shows."""
    if not finding.places:
        return ""
    is_one_file = all(link.path == finding.path and not link.cell for link in finding.places)
    shown = dict.fromkeys(
        f"{link.line}" if is_one_file else f"{short_path(link.path)}:{link.line}"
        for link in finding.places
    )
    named = list(shown)[: limits.MOST_SHOWN_PLACES]
    more = len(shown) - len(named)
    front = "" if not is_one_file else "line " if len(shown) == 1 else "lines "
    return f"also at {front}{', '.join(named)}" + (f" and {more} more" if more else "")


def chain(finding: Finding, short: bool) -> str:
    """How the place is reached, `short` with its first and last step only; of an observed recompile
    which function was compiled, where the place is not in it."""
    if finding.chain and finding.kind == "recompile" and finding.evidence != "predicted":
        return f"compiled again: {_link(finding.chain[-1], finding.path)}"
    return _way(finding, _ends if short else list)


def _ends(links: list[str]) -> list[str]:
    return links if len(links) < 3 else [links[0], "...", links[-1]]


def _way(finding: Finding, shorten: Callable[[list[str]], list[str]]) -> str:
    """How the place is reached, and on to where in an installed library it lies that the finding's
    line enters. A step that is named twice, as a comprehension in its function, stands once."""
    links = _before(finding)
    if finding.inside is not None:
        own = Link(path=finding.path, line=finding.line, function=finding.function)
        links += [own, *finding.inside.chain]
    named = dict.fromkeys(_link(link, finding.path) for link in links)
    return " -> ".join(shorten(list(named)))


def _before(finding: Finding) -> list[Link]:
    """The calls that lead to the finding's line: of a library's code without the line itself and
    what follows it."""
    if not finding.library:
        return list(finding.chain)
    own = (finding.path, finding.line)
    inside = finding.inside.chain if finding.inside else ()
    return list(
        takewhile(lambda link: (link.path, link.line) != own and link not in inside, finding.chain)
    )


def _link(link: Link, path: str) -> str:
    return (
        f"{link.function}:{link.line}"
        if link.path == path
        else f"{link.function} ({short_path(link.path)}:{link.line})"
    )


def short_path(path: str) -> str:
    """A path inside an installed package, without the folder that it is installed in."""
    for folder in ("site-packages/", "dist-packages/"):
        path = path.rpartition(folder)[2]
    return path
