"""The parent's end of a worker process: start it, send commands, read answers, see it end."""

from __future__ import annotations

import json
import os
import select
import subprocess
import tempfile
import threading
import time
from collections import deque
from pathlib import Path
from typing import Any, Self

from breakscope.dynamic.bench.options import BenchOptions
from breakscope.dynamic.capture.child_process import (
    Ended,
    environment,
    pump,
    request_stacks,
    start_child,
)
from breakscope.dynamic.capture.folders import writing
from breakscope.dynamic.findings.run_errors import describe_errors, refuse_wrong_target
from breakscope.dynamic.observations.ownership import Places
from breakscope.dynamic.options import RunOptions
from breakscope.dynamic.trace.progress_log import read_progress, torch_root
from breakscope.report.model import ReportError


class WorkerError(Exception):
    """The worker has no answer: it failed, ended or ran out of time. `errors` hold why; `timed_out`
    is the last of the three."""

    def __init__(self, errors: tuple[ReportError, ...], timed_out: bool) -> None:
        super().__init__(errors[0].message if errors else "it ended without a message")
        self.errors, self.timed_out = errors, timed_out


class Worker:
    """One mode in a process of its own. Use as a context manager: the process ends with it."""

    def __init__(
        self,
        mode: str,
        options: BenchOptions,
        folder: Path,
        reference: Path,
        deadline: float,
        warm_by: float | None = None,
    ) -> None:
        """`folder` receives all that the child writes; `deadline` is a time.time(), for its whole
        life, `warm_by` one for the steps of its warm-up."""
        self.mode, self.options, self.folder = mode, options, folder
        self._buffer, self._stopped = b"", False
        self._printed: deque[bytes] = deque(maxlen=16)
        theirs, self._commands = os.pipe()
        self._answers, answers = os.pipe()
        with writing(folder):
            (folder / "job.json").write_text(
                json.dumps(
                    {
                        "work": "bench",
                        "mode": mode,
                        "file": str(Path(options.file).resolve()),
                        "name": options.name,
                        "calls": options.calls,
                        "backend": options.backend,
                        "device": options.device,
                        "backward": options.backward,
                        "reference": str(reference),
                        "commands": theirs,
                        "answers": answers,
                        "deadline": deadline,
                        "warm_by": warm_by or deadline,
                    }
                ),
                encoding="utf-8",
            )
        self._child = start_child(
            folder, _variables(folder, options), folder.parent, (theirs, answers)
        )
        os.close(theirs)
        os.close(answers)
        threading.Thread(
            target=pump, args=(self._child.stdout, self._printed, False), daemon=True
        ).start()

    def __enter__(self) -> Self:
        return self

    def stop(self) -> None:
        """End the process now, so that it takes no time from the others."""
        if not self._stopped:
            self._stopped = True
            self._child.close()

    def __exit__(self, *_: object) -> None:
        self.stop()
        for descriptor in (self._commands, self._answers):
            os.close(descriptor)

    def send(self, deadline: float, **command: object) -> Any:
        """Send a command and wait for its answer; raises WorkerError when none comes before
        `deadline`."""
        try:
            os.write(self._commands, json.dumps(command).encode() + b"\n")
        except BrokenPipeError:
            raise self._problem(False) from None
        return self.answer(deadline)

    def answer(self, deadline: float) -> Any:
        """The next answer; raises WorkerError when none comes before `deadline`, a time.time(), and
        UserError when the target is none that can be run."""
        while b"\n" not in self._buffer:
            ready, _, _ = select.select([self._answers], [], [], max(0.0, deadline - time.time()))
            if not ready:
                request_stacks(self._child)
                raise self._problem(True)
            piece = os.read(self._answers, 65536)
            if not piece:
                raise self._problem(False)
            self._buffer += piece
        line, _, self._buffer = self._buffer.partition(b"\n")
        return json.loads(line)

    def _problem(self, timed_out: bool) -> WorkerError:
        if not timed_out:
            try:
                self._child.wait(5.0)
            except subprocess.TimeoutExpired:
                pass
            self.stop()
        notes = read_progress(self.folder / "progress.jsonl")
        refuse_wrong_target(notes)
        root = torch_root(notes)
        if timed_out and not root:
            message = f"torch was not imported within the {self.options.timeout:g} s of --timeout"
            return WorkerError((ReportError(message=message, path=self.options.file),), True)
        ended = Ended(
            self._child.poll() or 0, timed_out, b"".join(self._printed).decode("utf-8", "replace")
        )
        run = RunOptions(
            file=self.options.file, name=self.options.name, timeout=self.options.timeout
        )
        return WorkerError(
            describe_errors(self.folder, run, notes, ended, Places.here(root)), timed_out
        )


def worker_folder(parent: Path, mode: str) -> Path:
    """A fresh folder for one worker, its caches in it: every mode compiles from nothing."""
    with writing(parent):
        return Path(tempfile.mkdtemp(prefix=mode.replace(" ", "-") + "-", dir=parent))


def _variables(folder: Path, options: BenchOptions) -> dict[str, str]:
    """Without the trace and the logs of a run, which would be part of what is timed."""
    variables = {
        k: v
        for k, v in environment(folder).items()
        if k not in ("TORCH_TRACE", "TORCH_LOGS", "TORCH_LOGS_OUT")
    }
    if options.caches:
        variables["TORCHINDUCTOR_CACHE_DIR"] = str(Path(options.caches).resolve())
    return variables
