"""The dynamic analyzer: runs a model under Dynamo in a child process and reads what Dynamo reported.

`trace_program` does the same for any command, without touching it, and `read_result` reads what was traced elsewhere.
`listening` and `heard_result` do it for a block of this process.

The parent never imports torch: `run_target` starts the child, waits, and reads the files that the child left.
Everything under `child/` runs inside the child process; the rest reads.
"""

from breakscope.dynamic.follow import Counts
from breakscope.dynamic.full import run_fully
from breakscope.dynamic.options import RunOptions, RunResult, TraceOptions
from breakscope.dynamic.places import library_of
from breakscope.dynamic.run import run_target
from breakscope.dynamic.tracing import read_result, trace_program
from breakscope.dynamic.watching import heard_result, listening

__all__ = ["Counts", "RunOptions", "RunResult", "TraceOptions", "heard_result", "library_of", "listening", "read_result", "run_fully",
           "run_target", "trace_program"]
