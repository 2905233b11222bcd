"""What will be compiled again when training varies batch, sequence, dtype and modes: hazards before
training meets them.

A child makes one variation after the other, each from a fresh Dynamo and a fresh target on, so that
none hides another. A recompile that equal arguments show too belongs to the repeated steps alone,
whatever else varies.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import msgspec

from breakscope import limits
from breakscope.dynamic.capture.child_process import run_child
from breakscope.dynamic.capture.folders import run_folder
from breakscope.dynamic.findings.matching import recompile_finding
from breakscope.dynamic.findings.recompile_advice import fix
from breakscope.dynamic.findings.run_errors import describe_errors
from breakscope.dynamic.findings.wording import cause, values
from breakscope.dynamic.observations.compiles import is_limit
from breakscope.dynamic.observations.facts import FrameCompile, Observations, RecompileSeen
from breakscope.dynamic.observations.ownership import Places
from breakscope.dynamic.observations.reader import read_folder
from breakscope.dynamic.observations.recompiles import by_families
from breakscope.dynamic.options import RunOptions, RunResult
from breakscope.dynamic.trace.phases import SAME
from breakscope.dynamic.trace.progress_log import last_note, read_progress, torch_root
from breakscope.report import frames
from breakscope.report.model import Finding
from breakscope.report.paths import shown_path
from breakscope.report.run_modes import Hazard, Radar, Variation
from breakscope.rulekit.loader import load_rules

PHASE = "capture radar "
FAMILIES = {  # of the guards on what is varied
    "batch": ("size",),
    "sequence": ("size",),
    "image size": ("size",),
    "dtype": ("dtype",),
    "autocast": ("autocast",),
    "grad mode": ("grad_mode", "requires_grad"),
    "requires_grad of the arguments": ("requires_grad",),
}
# how the variation of one number, truth value or text is named, its name behind it
ARGUMENT = "argument "
ARGUMENTS = ("int_argument", "float_argument", "bool_argument", "str_argument")
ONE = "a size of 1 is always compiled by itself: call it once before it counts, pad to 2, or leave it out (`drop_last=True`)"
FIXED = (
    "the code fixes this size, so dynamic shapes do not help: pad to a few fixed sizes, or change what fixes it "
    "(`torch._dynamo.mark_dynamic` raises then, and names the line)"
)
MODES = "one compile for each mode is normal: call both once before training begins"


def with_radar(options: RunOptions, ran: RunResult) -> RunResult:
    """The run's result with what the radar saw; a hazard that does not settle is a finding too."""
    if ran.run.status not in ("ok", "no-capture") or not ran.run.calls:
        return _with(ran, Radar(batch="", sequence="", note="left out: the run did not end well"))
    if options.drive:
        return _with(
            ran,
            Radar(
                batch="",
                sequence="",
                note="left out: with --drive the file itself decides what varies",
            ),
        )
    with run_folder() as folder:
        ended = run_child(
            folder,
            replace(options, backward=options.backward and ran.run.backward, phase="radar"),
            work="radar",
        )
        notes = read_progress(folder / "progress.jsonl")
        places = Places.here(torch_root(notes))
        seen = read_folder(folder, places)
        errors = describe_errors(folder, options, notes, ended, places)
    if options.fake is not None:
        seen = _without_seconds(seen)
    dimensions = last_note(notes, "dimensions")
    made = [note for note in notes if note["event"] == "variation"]
    groups = _groups(_by_what_varied(seen, made, places), made)
    variations = tuple(_variation(note, groups.get(note["number"], []), seen) for note in made)
    radar = Radar(
        batch=_named(dimensions, "batch"),
        sequence_is=dimensions.get("sequence_is", "sequence"),
        sequence=_named(dimensions, "sequence"),
        variations=variations,
        note=f"ended early: {errors[0].message}" if errors else "",
    )
    return _with(ran, radar, _findings(made, variations, groups, options, ran.findings))


def _without_seconds(seen: Observations) -> Observations:
    """Those of a fake run are not those of a real one."""
    recompiles = tuple(
        replace(recompile, frame=replace(recompile.frame, seconds=0.0))
        for recompile in seen.recompiles
    )
    return replace(seen, recompiles=recompiles)


def _named(dimensions: dict, what: str) -> str:
    return f"{dimensions[what]} ({dimensions[f'{what}_size']})" if dimensions.get(what) else ""


def _with(ran: RunResult, radar: Radar, found: Sequence[Finding] = ()) -> RunResult:
    findings = tuple(sorted((*ran.findings, *found), key=Finding.place))
    return replace(ran, findings=findings, run=msgspec.structs.replace(ran.run, radar=radar))


def _by_what_varied(
    seen: Observations, made: list[dict], places: Places
) -> tuple[RecompileSeen, ...]:
    """The recompiles, each by a guard on what was varied where one failed."""
    names = {note["number"]: note["name"].removesuffix(" of 1") for note in made}
    compiles = {compile.compile_id: compile for compile in seen.compiles}
    return tuple(
        by_families(
            recompile, _families(names.get(_step(recompile.frame)[0], "")), compiles, places
        )
        for recompile in seen.recompiles
    )


def _families(varied: str) -> tuple[str, ...]:
    return ARGUMENTS if varied.startswith(ARGUMENT) else FAMILIES.get(varied, ())


def _groups(
    recompiles: Sequence[RecompileSeen], made: list[dict]
) -> dict[int, list[list[RecompileSeen]]]:
    """The recompiles of every variation, those of one guard together; without those that equal
    arguments show too."""
    by_number: dict[int, dict[tuple, list[RecompileSeen]]] = defaultdict(dict)
    for recompile in recompiles:
        number, step = _step(recompile.frame)
        if recompile.site is not None and step is not None:
            by_number[number].setdefault(_key(recompile), []).append(recompile)
    same = next((note["number"] for note in made if note["name"] == SAME), -1)
    usual = set(by_number.get(same, ()))
    kept = {same: list(by_number.get(same, {}).values())}
    for note in made:
        if note["number"] != same:
            groups = [
                [r for r in group if not (usual and _was_met(note, r))]
                for key, group in by_number.get(note["number"], {}).items()
                if key not in usual
            ]
            kept[note["number"]] = [group for group in groups if group]
    return kept


def _was_met(note: dict, recompile: RecompileSeen) -> bool:
    """The step's value was met before: what is compiled again for it is what changes in every call."""
    step = _step(recompile.frame)[1]
    return (
        note["steps"][step] in (note["base"], *note["steps"][:step])
        if step < len(note["steps"])
        else False
    )


def _step(frame: FrameCompile) -> tuple[int, int | None]:
    """The variation and the step of it that a frame was compiled in; None for its first call."""
    number, _, step = frame.phase.removeprefix(PHASE).partition(" ")
    if not frame.phase.startswith(PHASE) or not number.isdigit():
        return -1, None
    return int(number), int(step) if step.isdigit() else None


def _key(recompile: RecompileSeen) -> tuple:
    site, guard = recompile.site, recompile.guard
    return (site.path, site.line, guard.family, guard.name)


def _variation(note: dict, groups: list[list[RecompileSeen]], seen: Observations) -> Variation:
    recompiles = [recompile for group in groups for recompile in group]
    refused = (
        f"{', '.join(label for label, _ in note['refused'])}: {note['refused'][0][1]}"
        if note["refused"]
        else ""
    )
    reason = "; ".join(text for text in (refused, note["problem"]) if text)
    last = max((_step(recompile.frame)[1] for recompile in recompiles), default=-1)
    limited = [
        frame
        for frame in seen.compiles
        if _step(frame)[0] == note["number"] and is_limit(frame.fail_reason)
    ]
    if not note["steps"]:
        outcome = "left out"
    elif not recompiles:
        outcome = "none"
    elif limited and last >= (_step(limited[0])[1] or 0) - 1:
        outcome = "limit"
    else:
        outcome = "each time" if last == len(note["steps"]) - 1 else "settles"
    return Variation(
        name=note["name"],
        base=note["base"],
        outcome=outcome,
        steps=tuple(note["steps"]),
        recompiles=len(recompiles),
        compile_seconds=round(sum(recompile.frame.seconds for recompile in recompiles), 6),
        hazards=tuple(
            _hazard(group, note["name"]) for group in sorted(groups, key=len, reverse=True)
        ),
        given_up=limited[0].function if outcome == "limit" else "",
        reason=reason,
    )


def _hazard(group: list[RecompileSeen], varied: str) -> Hazard:
    first, guards = group[0], [recompile.guard for recompile in group]
    help = fix(guards)
    if guards[0].family == "size" and varied.endswith(" of 1"):
        help = ONE
    elif guards[0].family == "size" and len(group) >= limits.MOST_SAME_SIZE_RECOMPILES:
        help = FIXED
    elif guards[0].name.endswith(".training"):
        help = MODES
    return Hazard(
        path=shown_path(first.site.path, Path.cwd()),
        line=first.site.line,
        function=first.frame.function,
        family=guards[0].family,
        message=cause(guards, first.frame.resumed_at),
        guard=guards[0].text,
        help=help,
        values=values(guards),
        recompiles=len(group),
        compile_seconds=round(sum(recompile.frame.seconds for recompile in group), 6),
    )


def _findings(
    made: list[dict],
    variations: Sequence[Variation],
    groups: dict,
    options: RunOptions,
    known: Sequence[Finding],
) -> list[Finding]:
    """A finding for what never settles, and for what is compiled again though nothing varies; each
    once."""
    rules = tuple(load_rules(options.rules))
    reported = {(finding.path, finding.line, finding.dynamo) for finding in known}
    found = []
    for note, variation in zip(made, variations, strict=True):
        if variation.outcome not in ("each time", "limit") and variation.name != SAME:
            continue
        for group in groups.get(note["number"], []):
            finding = recompile_finding(group, rules, Path.cwd())
            key = (finding.path, finding.line, finding.dynamo)
            if key in reported:
                continue
            reported.add(key)
            found.append(
                msgspec.structs.replace(finding, message=f"{finding.message}; {_when(variation)}")
            )
    return found


def _when(variation: Variation) -> str:
    if variation.name == SAME:
        return "seen when the same call was repeated"
    ending = (
        f"until `{variation.given_up}` was {frames.REST}"
        if variation.outcome == "limit"
        else "each time"
    )
    return f"seen when the radar varied {variation.name}, {ending}"
