"""Frames of stacks and tracebacks, as Dynamo writes them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from breakscope import limits

RESUMED = re.compile(r"(?:torch_dynamo_resume_in_|<resume in )(?P<name>.+?)(?:_at_\d+|>)$")
FRAME = re.compile(
    r'^\s*File "(?P<path>.{1,4096})", line (?P<line>\d{1,9}), in (?P<name>.{1,400}?)\s*$'
)


@dataclass(frozen=True)
class Frame:
    """One frame of a traceback; columns are characters from 1, 0 when unknown."""

    path: str
    line: int
    function: str
    column: int = 0
    end_column: int = 0


def original_name(function: str) -> str:
    """`f` for `torch_dynamo_resume_in_f_at_12`, however often it was resumed."""
    while "resume" in function and (found := RESUMED.match(function)):
        function = found["name"]
    return function


def read_frames(text: str, title: str = "User code traceback:") -> list[Frame]:
    """The frames of a traceback that stands under `title`, outermost first, with columns where
    carets mark them."""
    start = text.find(title)
    if start < 0:
        return []
    frames: list[Frame] = []
    lines = text[start + len(title) :].splitlines()
    code = ""
    for number, line in enumerate(lines, 1):
        found = FRAME.match(line[: limits.LONGEST_TRACEBACK_LINE])
        if found:
            frames.append(Frame(found["path"], int(found["line"]), found["name"]))
            code = ""
        elif frames and line.strip() and not line.strip("^~ ") and code:
            frames[-1] = _with_columns(frames[-1], code, line)
        elif frames and not line.strip():  # the carets under a call's closing bracket are blanks
            if not any(
                FRAME.match(after[: limits.LONGEST_TRACEBACK_LINE])
                for after in lines[number : number + 1]
            ):
                break
        else:
            code = line
    return frames


def _with_columns(frame: Frame, code: str, carets: str) -> Frame:
    """Columns relative to the first character of the code line; the caller adds the file's own
    indentation."""
    offset = len(code) - len(code.lstrip())
    first = len(carets) - len(carets.lstrip()) - offset + 1
    return Frame(
        frame.path,
        frame.line,
        frame.function,
        max(1, first),
        max(1, len(carets.rstrip()) - offset + 1),
    )
