"""The child process: its environment, its time limit, its end."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from breakscope import limits
from breakscope.dynamic.capture.folders import writing
from breakscope.dynamic.capture.supervised import Supervised
from breakscope.dynamic.options import RunOptions
from breakscope.dynamic.trace.progress_log import current

CHILD = Path(__file__).resolve().parents[1] / "child" / "main.py"
ARTIFACTS = "graph_breaks,recompiles,trace_source"
# Settings that mute, redirect or replay compilation. TORCH_LOGS must be unset, not empty: empty
# crashes torch.
LEFT_OUT = tuple(
    """
    TORCH_LOGS TORCH_LOGS_OUT TORCH_LOGS_FORMAT TORCH_TRACE TORCH_DTRACE TORCH_COMPILE_DEBUG
    TORCH_COMPILE_JOB_ID TORCH_COMPILE_CPROFILE TORCH_COMPILE_DISABLE TORCHDYNAMO_DISABLE
    TORCHDYNAMO_SUPPRESS_ERRORS TORCHDYNAMO_VERBOSE TORCH_COMPILE_STROBELIGHT
    TORCHINDUCTOR_FX_GRAPH_CACHE TORCHINDUCTOR_FX_GRAPH_REMOTE_CACHE
    TORCHINDUCTOR_AUTOGRAD_REMOTE_CACHE TORCH_DYNAMO_AUTOMATIC_DYNAMIC_REMOTE_PGO
    """.split()
)


@dataclass(frozen=True)
class Ended:
    """How the child ended: its exit code (negative for a signal), and the end of what it printed."""

    code: int
    timed_out: bool
    printed: str


def run_child(
    folder: Path,
    options: RunOptions,
    work: str = "run",
    more: Mapping[str, object] = MappingProxyType({}),
) -> Ended:
    """Start the child, wait for its end or its limit, and leave nothing behind of what it started.
    `more` is what the work needs to know beside the options. Raises UserError when the folder
    cannot be written."""
    with writing(folder):
        (folder / "trace").mkdir()
        (folder / "job.json").write_text(
            json.dumps({**_job(options, work), **more}), encoding="utf-8"
        )
        child = start_child(folder, environment(folder), removed=folder)
    printed: deque[bytes] = deque(maxlen=16)
    pumping = threading.Thread(
        target=pump, args=(child.stdout, printed, options.show_output), daemon=True
    )
    pumping.start()
    try:
        code, timed_out = _wait(child, folder, options), False
    except subprocess.TimeoutExpired:
        request_stacks(child)
        code, timed_out = 0, True
    finally:
        child.close()
    pumping.join(1.0)  # a process that outlives the kill may hold the pipe open
    return Ended(code, timed_out, b"".join(printed).decode("utf-8", "replace"))


def _wait(child: Supervised, folder: Path, options: RunOptions) -> int:
    """The child's exit code; raises subprocess.TimeoutExpired."""
    until = time.monotonic() + options.timeout
    while True:
        try:
            left = until - time.monotonic()
            return child.wait(left if options.watch is None else min(limits.PROGRAM_TICK, left))
        except subprocess.TimeoutExpired:
            if options.watch is None or time.monotonic() >= until:
                raise
        doing = current(folder / "progress.jsonl")
        options.watch(f"{options.phase}: {doing}" if doing else options.phase)


def start_child(
    folder: Path, variables: dict[str, str], removed: Path, descriptors: Sequence[int] = ()
) -> Supervised:
    """A child that does the job in `folder`. `removed` is the folder of ours that goes with us."""
    return Supervised(
        [sys.executable, str(CHILD), str(folder)],
        variables,
        removed,
        own_session=True,
        removed=[removed],
        descriptors=descriptors,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


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
        "settings": [dataclasses.asdict(setting) for setting in options.settings],
        "fake": dataclasses.asdict(options.fake) if options.fake else None,
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


def request_stacks(child: Supervised) -> None:
    """Let faulthandler write the stacks to where.txt before the kill."""
    child.signal_group(signal.SIGUSR1)
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(limits.GRACE_OF_CHILD)
