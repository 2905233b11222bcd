"""Tracebacks that keep a function which calls another of the same name, as one `forward` calls the
next.

Dynamo takes the second for the first, resumed behind a break, and leaves the first out: the user's
own line, where the second is torch's or a library's.
"""

from __future__ import annotations

from traceback import FrameSummary, StackSummary

import torch._dynamo.exc
import torch._dynamo.symbolic_convert


def keep_callers_of_the_same_name() -> None:
    """Have Dynamo merge only what really was resumed; nothing where this torch has no such merging."""
    exc, tracer = torch._dynamo.exc, torch._dynamo.symbolic_convert
    merging = getattr(exc, "collapse_resume_frames", None)
    if (
        merging is not None
        and hasattr(exc, "remove_resume_prefix")
        and getattr(tracer, merging.__name__, None) is merging
    ):
        tracer.collapse_resume_frames = _merged


def _merged(stack: list[FrameSummary]) -> StackSummary:
    kept = StackSummary()
    for frame in stack:
        if frame.filename is None:
            continue
        name = torch._dynamo.exc.remove_resume_prefix(frame.name) or frame.name
        resumed = (
            name != frame.name
            and kept
            and (kept[-1].name, kept[-1].filename) == (name, frame.filename)
        )
        frame.name = name
        if resumed:
            kept[-1] = frame
        else:
            kept.append(frame)
    return kept
