"""What became of the module calls that `trace --compile` captured."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from breakscope.dynamic.observations.facts import FrameCompile, Observations
from breakscope.report.paths import shown_path
from breakscope.report.run_modes import ModuleCalls

PHASE = "capture module "  # before the name of the class or function whose call is captured


def module_calls(folder: Path, seen: Observations) -> tuple[ModuleCalls, ...]:
    """Each class whose calls were captured or left eager, and what became of them; those with most
    breaks first."""
    notes = [note for file in sorted(folder.glob("modules_*.jsonl")) for note in _notes(file)]
    of_compile = {compile.compile_id: _name(compile) for compile in seen.compiles}
    found = []
    for name in dict.fromkeys(note["name"] for note in notes):
        own = [note for note in notes if note["name"] == name]
        found.append(
            ModuleCalls(
                name=name,
                path=shown_path(own[0]["path"], Path.cwd()),
                line=own[0]["line"],
                calls=sum("eager" not in note for note in own),
                graphs=sum(
                    compile.graph_ops is not None
                    for compile in seen.compiles
                    if _name(compile) == name
                ),
                breaks=sum(
                    any(of_compile.get(i) == name for i in found.compile_ids)
                    for found in seen.breaks
                ),
                recompiles=sum(_name(found.frame) == name for found in seen.recompiles),
                eager=tuple(dict.fromkeys(note["eager"] for note in own if "eager" in note)),
            )
        )
    return tuple(sorted(found, key=lambda each: (-each.breaks, -each.recompiles, each.name)))


def _name(compile: FrameCompile) -> str:
    return compile.phase.removeprefix(PHASE) if compile.phase.startswith(PHASE) else ""


def _notes(file: Path) -> Sequence[dict]:
    """The notes of one process; a line that was cut off is left out."""
    notes = []
    for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            note = json.loads(line)
        except ValueError:
            continue
        if isinstance(note, dict) and {"name", "path", "line"} <= note.keys():
            notes.append(note)
    return notes
