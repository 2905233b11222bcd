"""How a run ended, in words: one clear message with the user's own traceback."""

from __future__ import annotations

import re
import signal
from collections.abc import Sequence
from pathlib import Path

from breakscope.dynamic.capture.child_process import Ended
from breakscope.dynamic.observations.facts import Observations
from breakscope.dynamic.observations.ownership import Places
from breakscope.dynamic.observations.reasons import without_c_frames
from breakscope.dynamic.options import RunOptions
from breakscope.dynamic.source_text import SourceFile
from breakscope.dynamic.trace.frames import original_name, read_frames
from breakscope.dynamic.trace.progress_log import UNWRITTEN, last_note
from breakscope.errors import UserError
from breakscope.report.model import ReportError
from breakscope.report.paths import shown_path

STAGES = {  # when it happened, and what that shows
    "start": ("before it began", ""),
    "import torch": ("while torch was being imported", ""),
    "import": ("while the file was being imported", ""),
    "options": ("while the options were being checked", ""),
    "build": ("while the target was being built", ""),
    "eager": ("in the eager run", ", without torch.compile"),
    "capture": ("under torch.compile", ", though it works without"),
    "explain": ("under torch._dynamo.explain", ""),
}
BEFORE_THE_CAPTURE = ("options", "import", "build", "eager")
STACK_LINE = re.compile(r'^\s*File "(?P<path>.+)", line (?P<line>\d+) in (?P<name>.+)$')
MEMORY = re.compile(
    r"MemoryError|can't allocate memory|out of memory|bad_alloc|not enough memory", re.IGNORECASE
)


def describe_errors(
    folder: Path, options: RunOptions, notes: Sequence[dict], ended: Ended, places: Places
) -> tuple[ReportError, ...]:
    """Every error of a run, the user's first."""
    errors = [_unwritten(folder, problem) for problem in unwritten(notes, ended)]
    errors += [_raised(note, options, places) for note in notes if note["event"] == "error"]
    for note in notes:
        if note["event"] == "ended":
            errors.append(_ended_early(note, options, folder, places))
        elif note["event"] == "failure":
            errors.append(
                ReportError(
                    message=f"breakscope's child process failed: {note['message']}",
                    detail=note["detail"],
                )
            )
    finished = any(note["event"] in ("done", "failure") for note in notes)
    if ended.timed_out:
        errors.append(_timed_out(options, notes, folder, places))
    elif (
        not finished
        and not unwritten(notes, ended)
        and not any(note["event"] == "error" and note["stage"] == "import torch" for note in notes)
    ):
        facts = {"signal": -ended.code} if ended.code < 0 else {"exit": ended.code}
        errors.append(
            _ended_early({"stage": _stage(notes), **facts}, options, folder, places, ended.printed)
        )
    return tuple(errors)


def refuse_wrong_target(notes: Sequence[dict]) -> None:
    """Raise UserError where the target, or an option of its run, is none that can be run at all."""
    for note in notes:
        if (
            note["event"] == "error"
            and note["type"] == "TargetError"
            and note["stage"] in BEFORE_THE_CAPTURE
        ):
            raise UserError(note["message"])


def status_of(
    notes: Sequence[dict], ended: Ended, errors: Sequence[ReportError], seen: Observations
) -> str:
    """The word for Run.status."""
    if ended.timed_out:
        return "timeout"
    if not any(note["event"] in ("done", "failure", "error") for note in notes) or any(
        note["event"] == "ended" for note in notes
    ):
        return "killed"
    if errors:
        begun = any(note["event"] == "stage" and note["name"] == "capture" for note in notes)
        return "failed" if begun else "not-run"
    return "ok" if seen.records else "no-capture"


def unwritten(notes: Sequence[dict], ended: Ended) -> tuple[str, ...]:
    """Why not all that was seen could be written, at most one."""
    found = [note["problem"] for note in notes if note["event"] == "unwritten"]
    finished = any(note["event"] in ("done", "failure") for note in notes)
    if ended.code == UNWRITTEN and not finished:
        found.append("its files cannot be written")
    return tuple(found[:1])


def _unwritten(folder: Path, problem: str) -> ReportError:
    return ReportError(
        message=f"what the run saw could not be written to {folder.parent}, so the capture is "
        f"incomplete: {problem}; TMPDIR can name another folder"
    )


def _raised(note: dict, options: RunOptions, places: Places) -> ReportError:
    """An exception of the user's code."""
    where = "".join(_when(note["stage"]))
    if note["type"] == "TargetError":
        return ReportError(message=note["message"], path=options.file)
    note = note | {"message": without_c_frames(note["message"])}
    frames = [f for f in [*note["frames"], *_traced(note["message"])] if places.is_user(f[0])]
    if note["type"].startswith("torch._dynamo."):
        note = note | {"message": _essence(note["message"])}
    path, line = (frames[-1][0], frames[-1][1] or 0) if frames else (options.file, 0)
    text = " ".join(note["message"].split()).strip()
    if note["type"] == "SystemExit":
        message = f"{options.target} called sys.exit({note['message']}) {where}"
    elif MEMORY.search(f"{note['type']} {text}"):
        message = f"{options.target} needed more memory than it may have {where}: {text[:200] or note['type']}"
    elif note["stage"] == "import torch":
        message = f"torch cannot be imported: {note['type']}: {text}"
    else:
        message = f"{options.target} raised {note['type']} {where}" + (
            f": {text[:300]}" if text else ""
        )
    detail = _traceback(
        _without_resumed(frames), f"{note['type']}: {note['message'].strip()}".removesuffix(": ")
    )
    return ReportError(message=message, path=shown_path(path, Path.cwd()), line=line, detail=detail)


def _essence(message: str) -> str:
    """What Dynamo raised, without its hints, its traceback and its words on variables to set: the
    finding at the place has what helps."""
    lines = message.partition("\n\n")[0].splitlines()
    return "\n".join(line for line in lines if not line.strip().startswith("Hint:"))


def _traced(message: str) -> list[list]:
    """The frames that Dynamo was tracing when it raised: no frame of Python's own stands for what
    it inlines."""
    return [
        [f.path, f.line, f.function, SourceFile.read(f.path).line(f.line).strip()]
        for f in read_frames(message, "from user code:")
    ]


def _ended_early(
    note: dict, options: RunOptions, folder: Path, places: Places, printed: str = ""
) -> ReportError:
    """The process is gone: a signal, or os._exit."""
    where = "".join(_when(note["stage"]))
    frames = _stack(folder, "crash", places)
    if "signal" in note:
        name = signal_name(note["signal"])
        guess = (
            "; the system most likely ran out of memory" if name == "SIGKILL" and not frames else ""
        )
        message = f"{options.target} crashed with {name} {where}{guess}"
    else:
        message = f"{options.target} ended its process with exit code {note['exit']} {where}"
    tail = (
        "\n".join(line for line in printed.splitlines()[-5:] if line.strip()) if not frames else ""
    )
    path, line = (frames[-1][0], frames[-1][1]) if frames else (options.file, 0)
    return ReportError(
        message=message,
        path=shown_path(path, Path.cwd()),
        line=line,
        detail=_traceback(frames, tail),
    )


def _timed_out(
    options: RunOptions, notes: Sequence[dict], folder: Path, places: Places
) -> ReportError:
    frames = _stack(folder, "where", places)
    during, _ = _when(_stage(notes))
    place = (
        f", at {shown_path(frames[-1][0], Path.cwd())}:{frames[-1][1]} in {frames[-1][2]}"
        if frames
        else ""
    )
    path, line = (frames[-1][0], frames[-1][1]) if frames else (options.file, 0)
    message = f"{options.target} did not finish within {options.timeout:g} s: it was stopped {during}{place}"
    return ReportError(
        message=message, path=shown_path(path, Path.cwd()), line=line, detail=_traceback(frames, "")
    )


def _when(stage: str) -> tuple[str, str]:
    return STAGES.get(stage, (f"during {stage}", ""))


def _stage(notes: Sequence[dict]) -> str:
    return last_note(notes, "stage").get("name", "start")


def _stack(folder: Path, name: str, places: Places) -> list[tuple[str, int, str, str]]:
    """The user's frames in faulthandler's output, outermost first: those of the first stack that
    has any."""
    files = sorted(folder.glob(f"{name}-*.txt"))
    text = "\n".join(file.read_text(encoding="utf-8", errors="replace") for file in files)
    for section in re.split(r"\n(?=(?:Current thread|Thread|Fatal|Stack) )", text):
        found = [
            m
            for m in map(STACK_LINE.match, section.splitlines())
            if m and places.is_user(m["path"])
        ]
        if found:
            return [
                (
                    m["path"],
                    int(m["line"]),
                    m["name"],
                    SourceFile.read(m["path"]).line(int(m["line"])).strip(),
                )
                for m in reversed(found)
            ]
    return []


def _without_resumed(frames: Sequence[list]) -> list[tuple[str, int, str, str]]:
    """Python shows a frame that Dynamo split as two or more: keep the last part, under the
    function's own name."""
    kept: list[tuple[str, int, str, str]] = []
    for path, line, name, code in frames:
        if (
            kept
            and original_name(name) != name
            and (kept[-1][0], kept[-1][2]) == (path, original_name(name))
        ):
            kept.pop()
        kept.append((path, line, original_name(name), code))
    return kept


def _traceback(frames: Sequence[tuple[str, int, str, str]], last: str) -> str:
    """The user's part of a traceback, as Python prints it."""
    if not frames:
        return last
    lines = ["Traceback (your code only, most recent call last):"]
    for path, line, name, code in frames:
        lines.append(f'  File "{path}", line {line}' + (f", in {name}" if name else ""))
        lines += [f"    {code}"] if code else []
    return "\n".join([*lines, last] if last else lines)


def signal_name(number: int) -> str:
    """ "SIGKILL" for 9."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
