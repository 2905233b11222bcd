"""Runs the command line as a user would, and says what a civil refusal looks like."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from import_path import PYTHONPATH


@dataclass(frozen=True)
class Done:
    """What a command did."""

    exit_code: int
    stdout: str
    stderr: str

    @property
    def report(self) -> dict:
        return json.loads(self.stdout)

    def lines_found(self, file: str) -> list[int]:
        """Lines of the findings in the file of this name."""
        return sorted({f["line"] for f in self.report["findings"] if Path(f["path"]).name == file})

    def errors_in(self, file: str) -> list[str]:
        return [e["message"] for e in self.report["errors"] if Path(e["path"]).name == file]


def breakscope(*arguments, folder: Path, cpu_seconds: int = 60, timeout: float = 240) -> Done:
    """Run `python -m breakscope` in `folder`. A process that burns more than `cpu_seconds` is
    killed by the system."""

    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds))

    environment = {
        **os.environ,
        "PYTHONPATH": PYTHONPATH,
        "NO_COLOR": "1",
        "OMP_NUM_THREADS": "1",
        "COLUMNS": "100",
    }
    done = subprocess.run(
        [sys.executable, "-m", "breakscope", *map(str, arguments)],
        cwd=folder,
        env=environment,
        capture_output=True,
        timeout=timeout,
        preexec_fn=limit,
        stdin=subprocess.DEVNULL,
    )
    return Done(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))


def assert_refused(done: Done, *words: str) -> None:
    """Exit code 2 and one line that holds the words."""
    assert done.exit_code == 2, done
    assert done.stdout == ""
    said = done.stderr.strip()
    assert len(said.splitlines()) == 1, said
    assert "internal error" not in said
    for word in words:
        assert word in said
