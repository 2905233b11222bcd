"""Compiles that Dynamo began again from the top of the frame, and why."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from breakscope.dynamic.observations.facts import FrameCompile
from breakscope.report.model import Restart
from breakscope.report.paths import shown_path

CLASS = re.compile(r"<class '[\w.]*\.(\w+)'>$")
WORDS = {
    "TensorifyScalarRestartAnalysis": "a Python float that could vary had to become a constant after all",
    "UnspecializeRestartAnalysis": "a module changed while it was traced",
    "CompileCollectiveRestartAnalysis": "the ranks agreed on which sizes vary",
    "AutogradGradRestartAnalysis": "torch.autograd.grad used up what a returned tensor needs",
    "RequiresGradRestartAnalysis": "a tensor made inside had requires_grad_() called on it and left the graph",
}


def shown_restarts(compiles: Iterable[FrameCompile]) -> tuple[Restart, ...]:
    """The compiles that were begun again, in order, as facts of the report."""
    here = Path.cwd()
    return tuple(
        Restart(
            compile_id=compile.compile_id,
            function=compile.function,
            path=shown_path(compile.path, here),
            line=compile.line,
            reasons=tuple(_in_words(reason) for reason in compile.restarts),
            seconds=round(compile.restart_seconds, 6),
        )
        for compile in compiles
        if compile.restarts
    )


def _in_words(reason: str) -> str:
    """The first line of a break's reason; a few words where Dynamo names only its exception's
    class."""
    first = reason.strip().partition("\n")[0].strip()
    found = CLASS.match(first)
    return WORDS.get(found[1], found[1]) if found else first[:400]
