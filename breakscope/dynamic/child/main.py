"""The child process's first file: `python main.py FOLDER`, where FOLDER holds job.json and receives all
that is captured.

Run as a script, so that it works wherever breakscope was imported from. sys.path is arranged before
the user's file is touched: this folder leaves it, and breakscope's own root goes to its end.
"""

from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path


def main(folder: Path) -> int:
    root = str(Path(__file__).resolve().parents[3])
    sys.path[:] = [
        p for p in sys.path if Path(p or ".").resolve() != Path(__file__).resolve().parent
    ]
    if root not in sys.path:
        sys.path.append(root)
    job = json.loads((folder / "job.json").read_text(encoding="utf-8"))
    from breakscope.dynamic.child import stacks
    from breakscope.dynamic.child.written.progress_log import Progress
    from breakscope.dynamic.child.written.unwritten import watch_log_handlers

    progress = Progress(str(folder / "progress.jsonl"))
    stacks.write_on_request(folder, job["deadline"])
    progress.note("stage", name="import torch")
    try:
        torch = _import_torch()
    except BaseException as problem:
        progress.note(
            "error",
            stage="import torch",
            type=type(problem).__name__,
            message=str(problem),
            frames=[],
        )
        return 1
    progress.note(
        "versions",
        torch=str(torch.__version__),
        torch_root=str(Path(torch.__file__).parent),
        python=sys.version.split()[0],
    )
    watch_log_handlers(progress)
    sys.argv = [job["file"]]
    try:
        if job.get("work") == "bench":
            from breakscope.dynamic.child.bench.serve import serve as work
        elif job.get("work") == "each break":
            from breakscope.dynamic.child.bench.cost_per_break import serve as work
        elif job.get("work") == "verify":
            from breakscope.dynamic.child.verify.serve import serve as work
        elif job.get("work") == "radar":
            from breakscope.dynamic.child.radar.serve import serve as work
        elif job.get("work") == "repro":
            from breakscope.dynamic.child.repro.serve import serve as work
        elif job.get("fake"):
            from breakscope.dynamic.child.fake.serve import serve as work
        else:
            from breakscope.dynamic.child.stages import run as work

        if not job.get("fake"):
            work(job, folder, progress)
        else:
            from breakscope.dynamic.child.fake.session import faking

            with faking(job, progress) as fake:
                work(job, folder, progress, fake)
    except BaseException as problem:  # a fault of ours: the user's code is fenced inside the stages
        progress.note(
            "failure", message=f"{type(problem).__name__}: {problem}", detail=_traceback()
        )
        return 1
    return 0


def _import_torch():
    """Import torch with a mute stderr: its log handlers keep the stream they find, and
    TORCH_LOGS_OUT has a copy."""
    stderr, sys.stderr = sys.stderr, _Mute()
    try:
        import torch
        import torch._dynamo
    finally:
        sys.stderr = stderr
    return torch


class _Mute(io.TextIOBase):
    def write(self, text: str) -> int:
        return len(text)


def _traceback() -> str:
    import traceback

    return traceback.format_exc()


if __name__ == "__main__":
    code = main(Path(sys.argv[1]))
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):  # the program closed or replaced it
            pass
    os._exit(code)  # the program's threads and exit handlers must not hold up the report
