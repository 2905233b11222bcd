"""breakscope trace: whole programs with their children, untouched, and a report whatever becomes of them."""

import fcntl
import json
import os
import pty
import random
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

from breakscope.report.model import from_json

pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks and terminals")
ROOT = Path(__file__).resolve().parents[2]

# Line 9 breaks in the program and in its fork, line 14 in a spawned child, line 20 in another program.
PROGRAM = """\
import os
import subprocess
import sys

import torch


def first(x, tag):
    print(tag, flush=True)
    return x * 2


def second(x):
    if x.sum() > 0:
        x = x * 2
    return x


OTHER = '''import torch
def third(x): return torch._dynamo.graph_break() or x + 1
torch.compile(third, backend="eager")(torch.ones(2))
'''


def child():
    torch.compile(second, backend="eager")(torch.ones(2))


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.compile(first, backend="eager")(torch.ones(2), "parent")
    torch._dynamo.reset()
    if (fork := os.fork()) == 0:
        torch.compile(first, backend="eager")(torch.ones(2), "fork")
        os._exit(0)
    os.waitpid(fork, 0)
    process = torch.multiprocessing.get_context("spawn").Process(target=child)
    process.start()
    process.join()
    subprocess.run([sys.executable, "-c", OTHER], check=True)
    print("said to stderr", file=sys.stderr)
    sys.exit(3)
"""
RANKS = """\
import torch
import torch.distributed as dist

torch.set_num_threads(1)


def step(x, k):
    y = x * k
    print(y.shape)
    return y


dist.init_process_group("gloo")
compiled = torch.compile(step, backend="eager")
compiled(torch.ones(4), 2)
compiled(torch.ones(4) if dist.get_rank() == 0 else torch.ones(4, dtype=torch.float64), 2)
dist.barrier()
dist.destroy_process_group()
"""
ENDLESS = """\
import sys
import torch


def make(number):
    space = {"torch": torch}
    exec(f"def f(x):\\n    y = x + {number}\\n    torch._dynamo.graph_break()\\n    return y * 2", space)
    return space["f"]


torch.set_num_threads(1)
for number in range(10_000):
    torch.compile(make(number), backend="eager")(torch.ones(2))
    torch._dynamo.reset()
    print(number, flush=True)
"""


@pytest.fixture
def start(tmp_path):
    """Start breakscope in tmp_path; a function that gives the process."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT), "TERM": "xterm"}
    environment.pop("TORCH_TRACE", None)

    def run(*arguments, **options):
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True} | options
        return subprocess.Popen([sys.executable, "-m", "breakscope", *map(str, arguments)], cwd=tmp_path, env=environment, **options)

    return run


def breaks(report):
    return {(f.path, f.line): f.count for f in report.findings if f.kind == "break"}


def test_a_program_with_children(start, tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    done = start("trace", "--save", "saved.json", "--keep", "raw", "--", sys.executable, "program.py", "--no-such-option")
    out, err = done.communicate(timeout=300)
    assert done.returncode == 3, "the program's own"
    assert out == "parent\nfork\n", "and nothing of ours"
    assert err.startswith("said to stderr\n")
    report = from_json((tmp_path / "saved.json").read_bytes())
    assert breaks(report) == {("program.py", 9): 2, ("program.py", 14): 1, ("<string>", 2): 1}
    assert {f.evidence for f in report.findings if f.path == "program.py"} == {"confirmed"}
    assert (report.run.exit_code, report.run.status, len(report.run.processes)) == (3, "failed", 4)
    assert report.torch and report.run.capture_checked
    (error,) = report.errors
    assert "ended with exit code 3 after" in error.message

    again = start("report", "saved.json")
    assert again.communicate(timeout=60)[0] == err.removeprefix("said to stderr\n")
    raw = start("report", "raw", "--format", "json")
    assert breaks(from_json(raw.communicate(timeout=60)[0].encode())) == breaks(report)
    assert raw.returncode == 1


def test_ranks(start, tmp_path):
    """Two ranks under torchrun: one report, and the first event where they part."""
    (tmp_path / "train.py").write_text(RANKS)
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "train.py"]
    done = start("trace", "--exit-code", "findings", "--format", "json", "--output", "out.json", "--timeout", "200", "--", *torchrun)
    err = done.communicate(timeout=300)[1]
    assert done.returncode == 1, err
    report = from_json((tmp_path / "out.json").read_bytes())
    assert breaks(report) == {("train.py", 9): 3}
    assert [(p.rank, p.compiles, p.recompiles) for p in report.run.processes] == [(0, 2, 0), (1, 3, 1)]
    zero, one = report.run.divergence.events
    assert (report.run.divergence.position, zero.rank, zero.kind) == (3, 0, "nothing")
    assert (one.rank, one.kind, one.path, one.line) == (1, "recompile", "train.py", 7)
    assert "tensor 'x' dtype mismatch" in one.what
    told = start("report", "out.json")
    out = told.communicate(timeout=60)[0]
    assert out.startswith("ranks part: after 3 equal events, rank 0 did nothing more; rank 1 compiled `step` at train.py:7 again")


@pytest.mark.parametrize("how", ["kill", "interrupt", "time limit"])
def test_a_program_that_is_stopped(start, tmp_path, how):
    """A report every time, and no break that it passed is missing."""
    (tmp_path / "endless.py").write_text(ENDLESS)
    limit = ["--timeout", "15"] if how == "time limit" else []
    done = start("trace", "--save", "saved.json", *limit, "--", sys.executable, "endless.py", start_new_session=True)
    while how != "time limit" and not done.stdout.readline():
        assert done.poll() is None
    time.sleep(random.random())
    while how == "interrupt" and done.poll() is None:  # an interrupt in the middle of a compile may get lost
        os.killpg(done.pid, signal.SIGINT)
        time.sleep(2)
    if how == "kill":
        (program,) = [int(n) for n in Path(f"/proc/{done.pid}/task/{done.pid}/children").read_text().split()]
        os.kill(program, signal.SIGKILL)
    out, err = done.communicate(timeout=120)
    assert done.returncode == {"kill": 137, "interrupt": 130, "time limit": 124}[how] or how == "interrupt" and done.returncode == 1
    report = json.loads((tmp_path / "saved.json").read_text())
    (error,) = report["errors"]
    assert {"kill": "was killed by SIGKILL", "interrupt": "was interrupted", "time limit": "did not end within 15 s"}[how] in error["message"]
    passed = max(map(int, out.split()), default=-1) + 1  # none, where the limit was too short for a busy machine
    seen = sum(finding["count"] for finding in report["findings"] if finding["kind"] == "break")
    assert seen >= passed and "breakscope: error" in err


def test_the_status_line(start):
    """The last row is ours while the program runs; at the end it is empty, and the whole screen scrolls again."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    done = start("trace", "--", "sh", "-c", "echo one; sleep 2; echo two", stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    text = b""
    while True:
        try:
            text += os.read(ours, 65536)
        except OSError:  # nobody has the terminal any more
            break
    os.close(ours)
    assert done.wait(60) == 0
    assert text.count(b"breakscope: 0 compiles, 0 breaks, 0 recompiles, ") >= 2
    assert text.index(b"\033[1;23r") < text.index(b"breakscope: 0") < text.rindex(b"\033[24;1H\033[K\033[1;24r") < text.index(b"no compile was seen")
    assert b"one\r\n" in text and b"two\r\n" in text


@pytest.mark.parametrize(("arguments", "said"), [
    ([], "Missing argument '-- CMD...'"),
    (["--", "no-such-command"], "cannot start no-such-command: No such file or directory"),
    (["--save", "nowhere/a.json", "--", "true"], "cannot write nowhere/a.json: no such folder"),
    (["--timeout", "0", "--", "true"], "--timeout"),
    (["--keep", "program.py", "--", "true"], "program.py"),
])
def test_wrong_use_is_one_line(start, tmp_path, arguments, said):
    (tmp_path / "program.py").write_text("")
    done = start("trace", *arguments)
    out, err = done.communicate(timeout=60)
    assert (done.returncode, out) == (2, "")
    assert err.startswith("breakscope: error: ") and err.count("\n") == 1 and said in err


def test_a_program_that_compiles_nothing(start):
    done = start("trace", "--", "true")
    out, err = done.communicate(timeout=60)
    assert (done.returncode, out) == (0, "") and "no compile was seen" in err
