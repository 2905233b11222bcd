"""What the text format says of a finding besides its message: evidence and cost, advice, guard, and how it is reached."""

from __future__ import annotations

from collections.abc import Callable

from breakscope.report.model import Cost, Finding, Link
from breakscope.report.summary import count, duration, per_step

MOST_VALUES = 6
LOST_BY = {
    "loop": "a break in a loop", "try": "a break in a `try`", "with": "a break in a `with`", "skipped": "Dynamo skipped it",
    "assert": "a break in an `assert`", "implicit": "a break in what an operator or an attribute calls",
    "rest": "a break that Dynamo cannot resume behind", "object": "a break in a call on an object made here", "recompile limit": "it was compiled again too often",
}


def notes(finding: Finding, ids: bool = False) -> str:
    """Evidence and cost, in a few words; with Dynamo's ids where there is room for them."""
    told = [" ".join((word, *(_ids(finding) if ids and word == finding.evidence else ()))) for word in _known(finding)]
    if finding.count:
        told.append(count(finding.count, "event"))
    return ", ".join([*told, *_syncs(finding), *_costs(finding.cost)])


def terse_notes(finding: Finding) -> str:
    """Evidence and the cost that matters most: what was measured of a step, then waits for a GPU, then compiling."""
    step = _costs(finding.cost and Cost(step_seconds=finding.cost.step_seconds))
    compiling = _costs(finding.cost and Cost(compile_seconds=finding.cost.compile_seconds))
    return ", ".join([*_known(finding), *(step or _syncs(finding) or compiling)])


def _syncs(finding: Finding) -> list[str]:
    return [f"{count(finding.host_syncs, 'host sync')} per step"] if finding.host_syncs else []


def _known(finding: Finding) -> list[str]:
    if finding.evidence != "predicted":
        return [finding.evidence]
    return [] if finding.confidence == "certain" else [finding.confidence]


def condition(finding: Finding) -> str:
    return f"only when `{finding.condition}`" if finding.condition else ""


def _ids(finding: Finding) -> tuple[str, ...]:
    """GB ids of a break; of a recompile the families of guards, in words."""
    if finding.kind != "recompile":
        return finding.dynamo
    return (f"({', '.join(family.replace('_', ' ') for family in finding.dynamo)})",) if finding.dynamo else ()


def _costs(cost: Cost | None) -> list[str]:
    if cost is None:
        return []
    parts = []
    if cost.step_seconds is not None:
        parts.append(per_step(cost))
    if cost.compile_seconds is not None:
        parts.append(f"{duration(cost.compile_seconds)} to compile")
    return parts


def advice(finding: Finding) -> str:
    """What to write instead; of an installed library's code first where that is."""
    safety = f"[{finding.fix.safety} fix]" if finding.fix else ""
    told = "  ".join(part for part in (finding.help, safety) if part)
    _, inside = _parted(finding)
    return join(f"breaks in {_link(inside[-1], finding.path)}", told) if inside else told


def join(*parts: str) -> str:
    return "; ".join(part for part in parts if part)


def lost(finding: Finding) -> str:
    """Why, and of which function, the whole frame runs eager."""
    if not finding.lost or finding.lost == "recompile limit":  # which its message tells
        return ""
    why, function = LOST_BY.get(finding.lost, finding.lost), finding.lost_function or finding.function or "the frame"
    return f"{why.removeprefix('a ')}: {how_much(finding.lost)} of `{function}` runs eager"


def how_much(lost: str) -> str:
    """Of a lost function."""
    return "the rest" if lost == "rest" else "all"


def behind(finding: Finding) -> str:
    """Which break must go before this one is met: the last that was neutralised, and how many before it."""
    if not finding.behind:
        return ""
    last, others = finding.behind[-1], len(finding.behind) - 1
    place = f"line {last.line}" if last.path == finding.path else f"{last.path}:{last.line}"
    return f"hidden behind the break at {place}" + (f" and {count(others, 'other')}" if others else "")


def guard(finding: Finding) -> str:
    if not finding.guard or finding.guard in finding.message:
        return ""
    told = [value for value in finding.values if value not in finding.guard]
    shown = (*finding.values[:MOST_VALUES], *(("...",) if len(finding.values) > MOST_VALUES else ()))
    seen = f" (values: {', '.join(shown)})" if told and len(finding.values) > 1 else ""
    return f"guard: {' '.join(finding.guard.split())}{seen}"


def chain(finding: Finding) -> str:
    """How the place is reached; of an observed recompile which function was compiled, where the place is not in it."""
    if finding.chain and finding.kind == "recompile" and finding.evidence != "predicted":
        return f"compiled again: {_link(finding.chain[-1], finding.path)}"
    return _told_chain(finding, list)


def short_chain(finding: Finding) -> str:
    """The chain with its first and last step only."""
    return _told_chain(finding, lambda links: links if len(links) < 3 else [links[0], "...", links[-1]])


def _told_chain(finding: Finding, shorten: Callable[[list[str]], list[str]]) -> str:
    """How the place is reached, and where in an installed library it lies that the finding's line enters."""
    before, inside = _parted(finding)
    before, through = (shorten([_link(link, finding.path) for link in links]) for links in (before, inside[:-1]))
    return join(
        f"reached from {' -> '.join(before)}" if before else "", f"inside by way of {' -> '.join(through)}" if through else ""
    )


def _parted(finding: Finding) -> tuple[list[Link], list[Link]]:
    """The calls that lead to the finding's line, and those from there to the place inside an installed library."""
    links = list(finding.chain)
    here = [i for i, link in enumerate(links) if (link.path, link.line) == (finding.path, finding.line)]
    return (links[: here[0]], links[here[0] + 1 :]) if finding.library and here else (links, [])


def _link(link: Link, path: str) -> str:
    return f"{link.function}:{link.line}" if link.path == path else f"{link.function} ({short_path(link.path)}:{link.line})"


def short_path(path: str) -> str:
    """A path inside an installed package, without the folder that it is installed in."""
    for folder in ("site-packages/", "dist-packages/"):
        path = path.rpartition(folder)[2]
    return path
