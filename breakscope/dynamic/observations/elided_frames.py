"""Frames that Dynamo's tracebacks leave out, put back.

Dynamo takes a function that is called by another of the same name, as one `forward` calls the next,
for that one resumed behind a break, and shows the last of them only (`collapse_resume_frames` in
`torch/_dynamo/exc.py`). Where the last is a library's, no line of the user's is left.
"""

from __future__ import annotations

from collections.abc import Mapping

from breakscope.dynamic.observations.compiles import first_of
from breakscope.dynamic.observations.facts import FrameCompile
from breakscope.dynamic.observations.ownership import Places
from breakscope.dynamic.source_text import SourceFile
from breakscope.dynamic.trace.frames import Frame


def with_compiled_frame(
    frames: list[Frame], compile: FrameCompile, compiles: Mapping[str, FrameCompile], places: Places
) -> list[Frame]:
    """The frames with that of the compiled function, where a frame of the same name stands in its
    place."""
    if not places.is_user(compile.path):
        return frames
    above = {(frame.path, frame.line) for frame in compile.stack[:-1]}
    place = next(
        (
            i
            for i, frame in enumerate(frames)
            if frame.function == compile.function and (frame.path, frame.line) not in above
        ),
        None,
    )
    if place is None:
        return frames
    source = SourceFile.read(compile.path)
    function = source.function_line(compile.line)
    if any(
        frame.path == compile.path and source.function_line(frame.line) == function
        for frame in frames
    ):
        return frames
    line = _resumed(compile, compiles, source) or source.call_line(compile.line, compile.function)
    return (
        [*frames[:place], Frame(compile.path, line, compile.function), *frames[place:]]
        if line
        else frames
    )


def _resumed(
    compile: FrameCompile, compiles: Mapping[str, FrameCompile], source: SourceFile
) -> int:
    """The line that ended the graph: the one behind which the next resume function of the same
    function begins; 0 when the frame is skipped, or nothing of it was compiled afterwards."""
    if compile.failed:
        return 0
    first = first_of(compile, compiles) or compile  # later ones find what follows compiled
    function, is_later = source.function_line(compile.line), False
    for other in compiles.values():
        if (
            is_later
            and other.resumed_at
            and (other.path, other.function) == (compile.path, compile.function)
            and (source.function_line(other.resumed_at) == function)
        ):
            return other.resumed_at
        is_later = is_later or other is first
    return 0
