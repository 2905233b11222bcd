"""The dynamic analyzer: runs a model under Dynamo in a child process and reads what Dynamo
reported.

`trace_program` does the same for any command, without touching it, and `read_result` reads what was
traced elsewhere. `listening` and `captured_result` do it for a block of this process.

The parent never imports torch: `run_target` starts the child, waits, and reads the files that the
child left. The rooms, each importing only those before it:

- `trace`: bytes into records; all differences between torch's versions are in `trace/dialects.py`
- `capture`: starts and watches the processes that write a trace
- `child`: what runs inside the child process; it alone imports torch
- `observations`: records into facts: breaks, recompiles, guards, compiles
- `findings`: facts into findings, in the words of the rules
- `bench`: what compiling costs and gains
- `modes`: what the commands do with all that: run, peel, radar, trace, watch
"""

from breakscope.dynamic.capture.in_process import listening
from breakscope.dynamic.findings.users_line import at_users_lines
from breakscope.dynamic.modes.full_run import run_fully, trace_fully
from breakscope.dynamic.modes.live import Look
from breakscope.dynamic.modes.run import run_target
from breakscope.dynamic.modes.trace import read_result, trace_program
from breakscope.dynamic.modes.verify import Original, Recorded, recorded_original, rewritten
from breakscope.dynamic.modes.watch import captured_result
from breakscope.dynamic.observations.ownership import library_of
from breakscope.dynamic.options import (
    CompileModules,
    FakeOptions,
    RunOptions,
    RunResult,
    TraceOptions,
)

__all__ = [
    "CompileModules",
    "FakeOptions",
    "Look",
    "Original",
    "Recorded",
    "RunOptions",
    "RunResult",
    "TraceOptions",
    "at_users_lines",
    "captured_result",
    "library_of",
    "listening",
    "read_result",
    "recorded_original",
    "rewritten",
    "run_fully",
    "run_target",
    "trace_fully",
    "trace_program",
]
