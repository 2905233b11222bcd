"""Recompiles from the records: which frame, which guard, which line of the user."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from breakscope.dynamic.observations.compiles import is_limit
from breakscope.dynamic.observations.facts import FrameCompile, RecompileSeen
from breakscope.dynamic.observations.guards.choice import why_none_served
from breakscope.dynamic.observations.guards.families import Guard, read_guard
from breakscope.dynamic.observations.guards.mode_switches import switch
from breakscope.dynamic.observations.guards.names import readable
from breakscope.dynamic.observations.guards.origins import is_captured, origin
from breakscope.dynamic.observations.guards.passed import passed_name
from breakscope.dynamic.observations.guards.tree import Version, read_version
from breakscope.dynamic.observations.ownership import GENERATED, Places
from breakscope.dynamic.trace.dialects import recompile_reasons
from breakscope.dynamic.trace.frames import Frame, original_name
from breakscope.dynamic.trace.records import Record

ARGUMENTS = ("int_argument", "float_argument", "bool_argument", "str_argument", "enum_argument")


def read_recompiles(
    records: Iterable[Record], compiles: Mapping[str, FrameCompile], places: Places
) -> tuple[RecompileSeen, ...]:
    """Every recompile, in order, and with them what a recompile limit refused."""
    seen = []
    records = tuple(records)
    versions = _Versions(
        {r.compile_id: r.data for r in records if r.kind == "dynamo_cpp_guards_str"}
    )
    for record in records:
        if record.name != "recompile_reasons":
            continue
        reasons = recompile_reasons(record.payload)
        if not reasons:
            continue
        frame = compiles.get(record.compile_id) or FrameCompile(
            record.compile_id, "", "", 0, phase=record.phase
        )
        cause = why_none_served(
            reasons, versions.before(frame.compile_id), versions.of(frame.compile_id)
        )
        guard = _guard(cause.guard, frame, compiles)
        others = tuple(_guard(other, frame, compiles) for other in cause.others)
        seen.append(
            RecompileSeen(
                frame,
                guard,
                _site(frame, guard, places),
                tuple(reasons),
                others,
                cause.fixed,
                frame.failed and is_limit(frame.fail_reason),
            )
        )
    return tuple(seen)


@dataclass(frozen=True)
class _Versions:
    """The guards of every version, read when they are asked for: most functions have only one."""

    trees: Mapping[str, bytes]  # by compile id
    known: dict[str, Version] = field(default_factory=dict)

    def of(self, compile_id: str) -> Version | None:
        if compile_id not in self.known and self.trees.get(compile_id):
            self.known[compile_id] = read_version(self.trees[compile_id])
        return self.known.get(compile_id)

    def before(self, compile_id: str) -> dict[str, Version]:
        """Those of the same frame that were compiled before, under the ids that reasons have."""
        frame, _, rest = compile_id.partition("/")
        number, mark, reset = rest.partition("#")
        found = {
            f"{frame}/{n}": self.of(f"{frame}/{n}{mark}{reset}")
            for n in range(int(number) if number.isdigit() else 0)
        }
        return {name: version for name, version in found.items() if version is not None}


def by_families(
    seen: RecompileSeen,
    families: Collection[str],
    compiles: Mapping[str, FrameCompile],
    places: Places,
) -> RecompileSeen:
    """The recompile by the guard of these families that failed in any version of the code, where
    there is one: each version failed for a reason of its own."""
    if seen.guard.family in families:
        return seen
    for reason in seen.reasons[1:]:
        guard = _guard(reason, seen.frame, compiles)
        if guard.family in families:
            return replace(seen, guard=guard, site=_site(seen.frame, guard, places))
    return seen


def _guard(reason: str, frame: FrameCompile, compiles: Mapping[str, FrameCompile]) -> Guard:
    guard = read_guard(reason)
    name = passed_name(guard.name, frame)
    guard = replace(guard, name=name, path=_whole_path(guard.path, frame, compiles))
    return (
        replace(guard, family="closure")
        if guard.family in ARGUMENTS and is_captured(frame, guard.name)
        else guard
    )


def _whole_path(path: str, frame: FrameCompile, compiles: Mapping[str, FrameCompile]) -> str:
    """A guard's comment leaves out the folders that a path shares with torch's, and one character
    more where they share but the root ("mp/model.py"): `shorten_filename` in
    torch/utils/_traceback.py. The frames have the rest."""
    if not path or os.path.isabs(path):
        return path
    known = [frame.path, *(f.path for f in frame.stack), *(c.path for c in compiles.values())]
    return next((whole for whole in known if _is_short_for(path, whole.replace("\\", "/"))), "")


def _is_short_for(path: str, whole: str) -> bool:
    return whole.endswith("/" + path) or whole[2:] == path


def _site(frame: FrameCompile, guard: Guard, places: Places) -> Frame | None:
    """The guard's line when it is the user's, else where a caller switched what it is about, else
    where the guarded name comes from, else the frame's first line, else the user's line that called
    it, as for what a library generated."""
    if frame.path == GENERATED and (
        written := places.written([f for f in frame.stack if places.is_user(f.path)])
    ):
        if written[-1].path != GENERATED:
            return _called_at(written[-1])
    if guard.line and places.is_user(guard.path):
        return Frame(guard.path, guard.line, frame.function)
    if switched := switch(frame, guard.family, places):
        return switched
    if places.is_user(frame.path):
        return origin(frame, readable(guard.name)) or Frame(frame.path, frame.line, frame.function)
    callers = places.chain(list(frame.stack))
    return _called_at(callers[-1]) if callers else places.entering(frame.stack)


def _called_at(caller: Frame) -> Frame:
    return Frame(caller.path, caller.line, original_name(caller.function))
