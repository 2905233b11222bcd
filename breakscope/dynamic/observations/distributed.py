"""Several processes as one: their observations together, and where ranks diverge."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import zip_longest

import msgspec

from breakscope.dynamic.observations.facts import Break, FrameCompile, Observations, RecompileSeen
from breakscope.dynamic.trace.processes import Process
from breakscope.report.run_modes import Divergence, RankEvent

Seen = tuple[Process, Observations]


def together(parts: Sequence[Seen]) -> Observations:
    """What all processes saw; compile ids are made distinct by rank, or by process where there is
    none."""
    if len(parts) == 1:
        return parts[0][1]
    parts = [
        (process, _labelled(seen, label))
        for (process, seen), label in zip(parts, _labels(parts), strict=True)
    ]
    every = [seen for _, seen in parts]
    seconds: dict[tuple[str, int], float] = defaultdict(float)
    for seen in every:
        for place, spent in seen.resume_seconds.items():
            seconds[place] += spent
    return Observations(
        breaks=_breaks(b for seen in every for b in seen.breaks),
        errors=_breaks(b for seen in every for b in seen.errors),
        recompiles=tuple(r for seen in every for r in seen.recompiles),
        refused=tuple(r for seen in every for r in seen.refused),
        graphs=tuple(g for seen in every for g in seen.graphs),
        skipped_frames=tuple(
            {
                (f.path, f.line, f.why, f.resumed_at): f
                for seen in reversed(every)
                for f in reversed(seen.skipped_frames)
            }.values()
        )[::-1],
        cuda_graphs=tuple(dict.fromkeys(g for seen in every for g in seen.cuda_graphs)),
        compile_seconds=sum(seen.compile_seconds for seen in every),
        resume_seconds=dict(seconds),
        traced={},
        records=sum(seen.records for seen in every),
        compiles=tuple(c for seen in every for c in seen.compiles),
        switches=frozenset.intersection(*(seen.switches for seen in every)),
    )


def divergence(parts: Sequence[Seen]) -> Divergence | None:
    """The first event that is not the same on all ranks; None with one rank, and where all agree.

    Ranks that compile different things at the same step wait for each other in different
    collectives. An event is a compile, a recompile or a break, in the order in which a rank met
    them. Of several processes of one rank the first is compared: the others are forks of it, or
    what an elastic launcher started anew.
    """
    first = {process.rank: seen for process, seen in reversed(parts) if process.rank is not None}
    by_rank = {rank: _events(seen) for rank, seen in first.items()}
    if len(by_rank) < 2:
        return None
    ranks = sorted(by_rank)
    for position, events in enumerate(zip_longest(*(by_rank[rank] for rank in ranks))):
        if len({None if event is None else event[0] for event in events}) > 1:
            differing = tuple(
                _of_rank(rank, event) for rank, event in zip(ranks, events, strict=True)
            )
            return Divergence(position=position, events=differing)
    return None


def _labels(parts: Sequence[Seen]) -> list[str]:
    """One for each process: its rank, else its number; made distinct where they are the same, as on
    two nodes."""
    used: Counter[str] = Counter()
    labels = []
    for process, _ in parts:
        used[process.label] += 1
        labels.append(
            process.label if used[process.label] == 1 else f"{process.label}.{used[process.label]}"
        )
    return labels


def _events(seen: Observations) -> list[tuple[tuple, RankEvent]]:
    """(what must be equal on all ranks, the event) in order."""
    breaks: dict[str, list[Break]] = defaultdict(list)
    for found in seen.breaks:
        for compile_id in found.compile_ids:
            breaks[compile_id].append(found)
    recompiles = {recompile.frame.compile_id: recompile for recompile in seen.recompiles}
    events = []
    for compile in seen.compiles:
        recompile = recompiles.get(compile.compile_id)
        events.append(_recompiled(recompile) if recompile else _compiled(compile))
        for found in breaks[compile.compile_id]:
            what = found.reason.gb_id or found.reason.type
            place = {
                "function": found.site.function,
                "path": found.site.path,
                "line": found.site.line,
            }
            events.append(
                (
                    ("break", _file(found.site.path), found.site.line, what),
                    RankEvent(rank=0, kind="break", what=what, **place),
                )
            )
    return events


def _recompiled(seen: RecompileSeen) -> tuple[tuple, RankEvent]:
    frame, site = seen.frame, seen.site
    path, line = (site.path, site.line) if site else (frame.path, frame.line)
    return (
        ("recompile", _file(frame.path), frame.line, seen.guard.family, seen.guard.name),
        RankEvent(
            rank=0,
            kind="recompile",
            function=frame.function,
            path=path,
            line=line,
            what=seen.guard.text,
        ),
    )


def _compiled(frame: FrameCompile) -> tuple[tuple, RankEvent]:
    line = frame.resumed_at or frame.line
    return (
        ("compile", _file(frame.path), line, frame.function),
        RankEvent(rank=0, kind="compile", function=frame.function, path=frame.path, line=line),
    )


def _file(path: str) -> str:
    """Its name alone: nodes may keep the same program in different folders."""
    return os.path.basename(path)


def _of_rank(rank: int, event: tuple[tuple, RankEvent] | None) -> RankEvent:
    return (
        RankEvent(rank=rank, kind="nothing")
        if event is None
        else msgspec.structs.replace(event[1], rank=rank)
    )


def _labelled(seen: Observations, label: str) -> Observations:
    def frame(compile: FrameCompile) -> FrameCompile:
        return replace(compile, compile_id=f"{label}:{compile.compile_id}")

    return replace(
        seen,
        breaks=tuple(
            replace(b, compile_ids=tuple(f"{label}:{i}" for i in b.compile_ids))
            for b in seen.breaks
        ),
        recompiles=tuple(replace(r, frame=frame(r.frame)) for r in seen.recompiles),
        graphs=tuple(
            msgspec.structs.replace(g, compile_id=f"{label}:{g.compile_id}") for g in seen.graphs
        ),
        compiles=tuple(frame(c) for c in seen.compiles),
    )


def _breaks(every: Iterable[Break]) -> tuple[Break, ...]:
    merged: dict[tuple, Break] = {}
    for found in every:
        key = (found.site.path, found.site.line, found.reason.gb_id or found.reason.type)
        known = merged.get(key)
        merged[key] = (
            found
            if known is None
            else replace(
                known,
                chain=max(known.chain, found.chain, key=len),
                compile_ids=known.compile_ids + found.compile_ids,
                skipped=known.skipped or found.skipped,
                backward=known.backward and found.backward,
                count=known.count + found.count,
            )
        )
    return tuple(merged.values())
