"""The child process: its environment, its time limit, its end."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from breakscope import limits
from breakscope.dynamic.options import RunOptions

CHILD = Path(__file__).resolve().parents[1] / "child" / "main.py"
ARTIFACTS = "graph_breaks,recompiles,trace_source"
# Settings that mute, redirect or replay compilation. TORCH_LOGS must be unset, not empty: empty
# crashes torch.
LEFT_OUT = (
    "TORCH_LOGS",
    "TORCH_LOGS_OUT",
    "TORCH_LOGS_FORMAT",
    "TORCH_TRACE",
    "TORCH_DTRACE",
    "TORCH_COMPILE_DEBUG",
    "TORCH_COMPILE_JOB_ID",
    "TORCH_COMPILE_CPROFILE",
    "TORCH_COMPILE_DISABLE",
    "TORCHDYNAMO_DISABLE",
    "TORCHDYNAMO_SUPPRESS_ERRORS",
    "TORCHDYNAMO_VERBOSE",
    "TORCH_COMPILE_STROBELIGHT",
    "TORCHINDUCTOR_FX_GRAPH_CACHE",
    "TORCHINDUCTOR_FX_GRAPH_REMOTE_CACHE",
    "TORCHINDUCTOR_AUTOGRAD_REMOTE_CACHE",
    "TORCH_DYNAMO_AUTOMATIC_DYNAMIC_REMOTE_PGO",
)


@dataclass(frozen=True)
class Ended:
    """How the child ended: its exit code (negative for a signal), and the end of what it printed."""

    code: int
    timed_out: bool
    printed: str


@contextmanager
def run_folder() -> Iterator[Path]:
    """A fresh folder for one child: job, trace, logs and caches."""
    folder = Path(tempfile.mkdtemp(prefix="breakscope-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def run_child(folder: Path, options: RunOptions, work: str = "run") -> Ended:
    """Start the child, wait for its end or its limit, and leave no process of its group behind."""
    (folder / "trace").mkdir()
    (folder / "job.json").write_text(json.dumps(_job(options, work)), encoding="utf-8")
    group = {"start_new_session": True} if os.name == "posix" else {}
    child = subprocess.Popen(
        [sys.executable, str(CHILD), str(folder)],
        env=environment(folder),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        **group,
    )
    printed: deque[bytes] = deque(maxlen=16)
    pumping = threading.Thread(
        target=pump, args=(child.stdout, printed, options.show_output), daemon=True
    )
    pumping.start()
    try:
        code, timed_out = child.wait(options.timeout), False
    except subprocess.TimeoutExpired:
        request_stacks(child)
        code, timed_out = 0, True
    finally:
        kill_group(child)
    child.wait()
    pumping.join(1.0)  # a process that left the group may hold the pipe open for ever
    return Ended(code, timed_out, b"".join(printed).decode("utf-8", "replace"))


def free_memory() -> int:
    """Nine tenths of the memory that is free for this process, in bytes; 0 when unknown."""
    found = []
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                found.append(int(line.split()[1]) * 1024)
        limit = Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii").strip()
        if limit.isdigit():
            found.append(
                int(limit) - int(Path("/sys/fs/cgroup/memory.current").read_text(encoding="ascii"))
            )
    except (OSError, ValueError):
        pass
    return max(0, min(found) * 9 // 10) if found else 0


def _job(options: RunOptions, work: str) -> dict:
    return {
        "file": str(Path(options.file).resolve()),
        "name": options.name,
        "calls": options.calls,
        "drive": options.drive,
        "vary": options.vary,
        "backend": options.backend,
        "device": options.device,
        "backward": options.backward,
        "memory": options.memory,
        "default_memory": free_memory(),
        "explain": options.explain,
        "deadline": time.time() + options.timeout,
        "work": work,
        "batch_dim": options.batch_dim,
        "sequence_dim": options.sequence_dim,
        "neutralise": [
            {"number": number, **dataclasses.asdict(site)}
            for number, site in enumerate(options.neutralise)
        ],
    }


def environment(folder: Path) -> dict[str, str]:
    env = {key: value for key, value in os.environ.items() if key not in LEFT_OUT}
    env |= {
        "TORCH_TRACE": str(folder / "trace"),
        "TORCH_LOGS": ARTIFACTS,
        "TORCH_LOGS_OUT": str(folder / "log.txt"),
        "TORCHINDUCTOR_CACHE_DIR": str(folder / "inductor"),
        "TRITON_CACHE_DIR": str(folder / "triton"),
        # so that looking for CUDA does not start it before the fork
        "PYTORCH_NVML_BASED_CUDA_CHECK": "1",
        "PYTHONIOENCODING": "utf-8:backslashreplace",
    }
    return env


def pump(pipe, printed: deque[bytes], show: bool) -> None:
    """Empty the pipe for as long as someone writes; keep its end, pass it on with `show`."""
    while chunk := pipe.read1(65536):
        printed.append(chunk)
        if show:
            sys.stderr.buffer.write(chunk)
            sys.stderr.flush()


def request_stacks(child: subprocess.Popen) -> None:
    """Let faulthandler write the stacks to where.txt before the kill."""
    if os.name == "posix":
        try:
            os.killpg(child.pid, signal.SIGUSR1)
            child.wait(limits.GRACE_OF_CHILD)
        except (OSError, subprocess.TimeoutExpired):
            pass


def kill_group(child: subprocess.Popen) -> None:
    try:
        if os.name == "posix":
            os.killpg(child.pid, signal.SIGKILL)
        else:
            child.kill()
    except OSError:  # the group has ended
        pass
