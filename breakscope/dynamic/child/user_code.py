"""Runs the user's code: whatever it raises becomes a note in the progress log."""

from __future__ import annotations

import traceback
from collections.abc import Callable

from breakscope.dynamic.child.load import TargetError
from breakscope.dynamic.child.written.progress_log import Progress


class Stopped(Exception):
    """A stage failed and has noted why; nothing follows."""


def stage(progress: Progress, name: str, work: Callable):
    """Run the user's code; whatever it raises becomes one error note with its traceback."""
    progress.note("stage", name=name)
    try:
        return work()
    except TargetError as problem:
        progress.note("error", stage=name, type="TargetError", message=str(problem), frames=[])
    except BaseException as problem:  # SystemExit and KeyboardInterrupt are the user's too
        note_exception(progress, name, problem)
    raise Stopped


def note_exception(progress: Progress, name: str, problem: BaseException) -> None:
    frames = [
        [f.filename, f.lineno, f.name, f.line or ""]
        for f in traceback.extract_tb(problem.__traceback__)
    ]
    if isinstance(problem, SyntaxError):
        frames.append([problem.filename, problem.lineno, "", (problem.text or "").strip()])
    kind = type(problem)
    place = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
    progress.note(
        "error",
        stage=name,
        type=f"{place}{kind.__qualname__}",
        message=str(problem)[:20_000],
        frames=frames,
    )
