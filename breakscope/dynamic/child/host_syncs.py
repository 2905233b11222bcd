"""Host syncs: where a step makes the CPU wait for the GPU.

torch warns of copies to the host and of ops that need one (`.item()`, `.cpu()`, `nonzero`, `if
tensor`) while `torch.cuda.set_sync_debug_mode("warn")` is on; not of torch.cuda.synchronize, nor of
torch.distributed and torch.sparse. torch.cuda.synchronize is watched where it enters C.
"""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import fx

from breakscope import limits
from breakscope.dynamic.child.bench import coverage

# c10/cuda/CUDAFunctions.cpp, alike from torch 2.6 to 2.15
WARNING = "called a synchronizing CUDA operation"
# what torch.cuda.synchronize calls; to replace that one itself would fail Dynamo's guards
NATIVE = "_cuda_synchronize"

# autograd keeps the warnings of its threads, and gives them out in the one that called it
BACKWARD = "_engine_run_backward"
NODE = fx.Interpreter.run_node.__code__
IN_NODE = re.compile(r'File "(?P<path>[^"\n]+)", line (?P<line>\d+), in (?P<name>[^\n]+)')

Stack = tuple[tuple[str, int, str], ...]  # file, line, function; outermost first


@contextmanager
def listening(cuda: Any = torch.cuda, native: Any = torch._C) -> Iterator[list[Stack]]:
    """The stack of every host sync of the block, in order. The mode, the warning filters and torch
    are as before behind it."""
    stacks: list[Stack] = []
    with warnings.catch_warnings():
        show = warnings.showwarning

        def collect(message: Any, *rest: Any, **more: Any) -> None:
            if str(message).startswith(WARNING):
                stacks.append(_stack())
            else:
                show(message, *rest, **more)

        warnings.filterwarnings("always", message=WARNING)
        warnings.showwarning = collect
        mode, wait = cuda.get_sync_debug_mode(), getattr(native, NATIVE, None)

        def wait_and_collect(*args: Any) -> Any:
            stacks.append(_stack())
            return wait(*args)

        try:
            cuda.set_sync_debug_mode("warn")
            if wait is not None:
                setattr(native, NATIVE, wait_and_collect)
            yield stacks
        finally:
            if wait is not None:
                setattr(native, NATIVE, wait)
            cuda.set_sync_debug_mode(mode)


def counted(stacks: list[Stack]) -> list[dict]:
    """Equal stacks once, for the progress log."""
    counts: dict[Stack, int] = {}
    for stack in stacks:
        counts[stack] = counts.get(stack, 0) + 1
    return [
        {"frames": stack, "backward": any(name == BACKWARD for _, _, name in stack), "count": count}
        for stack, count in counts.items()
    ]


def _stack() -> Stack:
    """The frames below which the sync happened, without those of ours that listen or run a graph,
    and without code that inductor wrote. Inside of a graph the node has the user's line, the
    frames have not."""
    frame, written = sys._getframe(1), os.environ.get("TORCHINDUCTOR_CACHE_DIR") or "no such folder"
    found: list[tuple[str, int, str]] = []
    while frame is not None and len(found) < limits.DEEPEST_SYNC_STACK:
        code = frame.f_code
        if code.co_filename not in (
            __file__,
            coverage.__file__,
        ) and not code.co_filename.startswith(written):
            found.append((code.co_filename, frame.f_lineno or code.co_firstlineno, code.co_name))
        if code is NODE:
            users = IN_NODE.finditer(frame.f_locals["n"].stack_trace or "")
            found += [(each["path"], int(each["line"]), each["name"]) for each in users][::-1]
        frame = frame.f_back
    return tuple(found[::-1])
