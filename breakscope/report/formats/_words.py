"""What the text format shows of a finding besides its message, in words: evidence and cost, advice,
guard, and how it is reached."""

from __future__ import annotations

from collections.abc import Callable
from itertools import takewhile

from breakscope import limits
from breakscope.report import frames
from breakscope.report.model import Cost, Finding, Link
from breakscope.report.summary import count, duration, per_step


def notes(finding: Finding, ids: bool = False) -> str:
    """Evidence and cost, in a few words; with Dynamo's ids where there is room for them."""
    parts = [
        " ".join((word, *(_ids(finding) if ids and word == finding.evidence else ())))
        for word in _evidence(finding)
    ]
    if finding.count:
        parts.append(count(finding.count, "event"))
    return ", ".join([*parts, *_syncs(finding), *_costs(finding.cost)])


def terse_notes(finding: Finding) -> str:
    """Evidence and the cost that matters most: what was measured of a step, then waits for a GPU,
    then compiling."""
    step = _costs(finding.cost and Cost(step_seconds=finding.cost.step_seconds))
    compiling = _costs(finding.cost and Cost(compile_seconds=finding.cost.compile_seconds))
    return ", ".join([*_evidence(finding), *(step or _syncs(finding) or compiling)])


def _syncs(finding: Finding) -> list[str]:
    return [f"{count(finding.host_syncs, 'host sync')} per step"] if finding.host_syncs else []


def _evidence(finding: Finding) -> list[str]:
    if finding.evidence != "predicted":
        return [finding.evidence]
    return [] if finding.confidence == "certain" else [finding.confidence]


def condition(finding: Finding) -> str:
    """When the code of the finding runs, where that is not always."""
    return ", ".join(
        text
        for text in (
            "only in the backward pass" if finding.backward else "",
            f"only when `{finding.condition}`" if finding.condition else "",
        )
        if text
    )


def _ids(finding: Finding) -> tuple[str, ...]:
    """GB ids of a break; of a recompile the families of guards, in words."""
    if finding.kind != "recompile":
        return finding.dynamo
    return (
        (f"({', '.join(family.replace('_', ' ') for family in finding.dynamo)})",)
        if finding.dynamo
        else ()
    )


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
    text = "  ".join(part for part in (finding.help, safety) if part)
    if finding.inside is None:
        return text
    return join(f"breaks in {_link(finding.inside.chain[-1], finding.path)}", text)


def join(*parts: str) -> str:
    return "; ".join(part for part in parts if part)


def skipped(finding: Finding) -> tuple[str, ...]:
    """That Dynamo skips a frame: the whole sentence first, then in fewer and fewer words; nothing
    where it does not, or where the message is about that."""
    if not finding.lost or finding.lost == "recompile limit":
        return ()
    function = finding.lost_function or finding.function or "the frame"
    outcome = frames.outcome(finding.lost)
    # of the function that the finding stands in, its name is not needed
    own = () if finding.lost_function else (outcome,)
    return (frames.sentence(function, finding.lost), f"`{function}` is {outcome}", *own)


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


def guard(finding: Finding) -> str:
    """The guard that failed, with the values that it met, where the message does not name it."""
    if not finding.guard or finding.guard in finding.names:
        return ""
    shown = (
        *finding.values[: limits.MOST_SHOWN_VALUES],
        *(("...",) if len(finding.values) > limits.MOST_SHOWN_VALUES else ()),
    )
    further = len(finding.values) > 1 and any(v not in finding.guard for v in finding.values)
    seen = f" (values: {', '.join(shown)})" if further else ""
    return f"guard: {' '.join(finding.guard.split())}{seen}"


def chain(finding: Finding) -> str:
    """How the place is reached; of an observed recompile which function was compiled, where the
    place is not in it."""
    if finding.chain and finding.kind == "recompile" and finding.evidence != "predicted":
        return f"compiled again: {_link(finding.chain[-1], finding.path)}"
    return _way(finding, list)


def short_chain(finding: Finding) -> str:
    """The chain with its first and last step only."""
    return _way(finding, lambda links: links if len(links) < 3 else [links[0], "...", links[-1]])


def _way(finding: Finding, shorten: Callable[[list[str]], list[str]]) -> str:
    """How the place is reached, and where in an installed library it lies that the finding's line
    enters."""
    through = finding.inside.chain[:-1] if finding.inside else ()
    before, through = (
        shorten([_link(link, finding.path) for link in links])
        for links in (_before(finding), through)
    )
    return join(
        f"reached from {' -> '.join(before)}" if before else "",
        f"inside by way of {' -> '.join(through)}" if through else "",
    )


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
