"""What became of the module calls that `trace --compile` captured."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from breakscope.dynamic.observations.facts import FrameCompile, Observations
from breakscope.reading import Unreadable, read_file
from breakscope.report.paths import shown_path
from breakscope.report.run_modes import ModuleCalls

PHASE = "capture module "  # before the name of the class or function whose call is captured


class Note(msgspec.Struct, frozen=True):
    """One call, as the program's process noted it; `eager` says why it was not captured."""

    name: str
    path: str
    line: int
    eager: str = ""


DECODER = msgspec.json.Decoder(Note)


def module_calls(folder: Path, seen: Observations) -> tuple[ModuleCalls, ...]:
    """Each class whose calls were captured or left eager, and what became of them; those with most
    breaks first."""
    by_name: dict[str, list[Note]] = {}
    for file in sorted(folder.glob("modules_*.jsonl")):
        for note in _notes(file):
            by_name.setdefault(note.name, []).append(note)
    of_compile = {compile.compile_id: _name(compile) for compile in seen.compiles}
    found = [_of_class(name, notes, seen, of_compile) for name, notes in by_name.items()]
    return tuple(sorted(found, key=lambda each: (-each.breaks, -each.recompiles, each.name)))


def _of_class(
    name: str, notes: list[Note], seen: Observations, of_compile: dict[str, str]
) -> ModuleCalls:
    graphs = [compile for compile in seen.compiles if compile.graph_ops is not None]
    return ModuleCalls(
        name=name,
        path=shown_path(notes[0].path, Path.cwd()),
        line=notes[0].line,
        calls=sum(not note.eager for note in notes),
        graphs=sum(_name(compile) == name for compile in graphs),
        breaks=sum(
            any(of_compile.get(compile) == name for compile in found.compile_ids)
            for found in seen.breaks
        ),
        recompiles=sum(_name(found.frame) == name for found in seen.recompiles),
        eager=tuple(dict.fromkeys(note.eager for note in notes if note.eager)),
    )


def _name(compile: FrameCompile) -> str:
    return compile.phase.removeprefix(PHASE) if compile.phase.startswith(PHASE) else ""


def _notes(file: Path) -> Iterator[Note]:
    """The notes of one process; a line that was cut off, or is none of ours, is left out."""
    try:
        lines = read_file(file).splitlines()
    except Unreadable:
        return
    for line in lines:
        try:
            yield DECODER.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError):
            continue
