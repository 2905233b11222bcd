"""The self-test: one known break, so that a run without findings is known to have been captured."""

from __future__ import annotations

import torch

from breakscope.dynamic.child.written.phases import mark_phase
from breakscope.dynamic.child.written.progress_log import Progress
from breakscope.texts import exception_text


def self_test(progress: Progress, name: str) -> None:
    mark_phase(name)
    progress.note("self-test", name=name)
    try:
        break_once()
        torch._dynamo.reset()
    except Exception as problem:
        progress.note("note", text=f"the self-test failed: {exception_text(problem)}")
    mark_phase("between")


def break_once() -> None:
    """Compile and call a function that breaks on its second line; the reader must find that in the
    trace."""

    def planted(x):
        y = x + 1
        torch._dynamo.graph_break()
        return y * 2

    torch.compile(planted, backend="eager")(torch.ones(2))
