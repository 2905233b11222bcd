"""The dynamic analyzer: runs a model under Dynamo in a child process and reads what Dynamo reported.

The parent never imports torch: `run_target` starts the child, waits, and reads the files that the child left.
Everything under `child/` runs inside the child process; the rest reads.
"""

from breakscope.dynamic.options import RunOptions, RunResult
from breakscope.dynamic.run import run_target

__all__ = ["RunOptions", "RunResult", "run_target"]
