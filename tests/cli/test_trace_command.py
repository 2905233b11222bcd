"""breakscope trace: whole programs with their children, untouched, and a report whatever becomes of
them."""

import fcntl
import json
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest
from import_path import PYTHONPATH

from breakscope import limits
from breakscope.cli import status_line
from breakscope.report.model import from_json

pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks and terminals")
ROOT = Path(__file__).resolve().parents[2]

# Line 8 breaks in the program, line 13 in a forked and in a spawned worker of a loader.
PROGRAM = """\
import os
import sys

import torch


def first(x, tag):
    print(tag, flush=True)
    return x * 2


def second(x):
    if x.sum() > 0:
        x = x * 2
    return x


class Numbers(torch.utils.data.Dataset):
    def __len__(self):
        return 2

    def __getitem__(self, index):
        return torch.compile(second, backend="eager")(torch.ones(2) + index)


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.compile(first, backend="eager")(torch.ones(2), "parent")
    for way in ("fork", "spawn"):
        for batch in torch.utils.data.DataLoader(Numbers(), num_workers=1, multiprocessing_context=way):
            print(batch.tolist(), flush=True)
    os.write(1, bytes(range(256)))
    print("said to stderr", file=sys.stderr)
    sys.exit(3)
"""
# Rank 1 compiles what rank 0 does not, and is killed behind it.
RANKS = """\
import os
import signal
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
if dist.get_rank() == 1:
    os.kill(os.getpid(), signal.SIGKILL)
dist.barrier()
"""
# Writes what torch wrote for a program with four breaks, without the seconds that torch takes to
# start.
WRITER = """\
import ctypes
import os
import sys
import time

with open(sys.argv[1], "rb") as trace, open(os.path.join(os.environ["TORCH_TRACE"], "trace.log"), "wb") as copy:
    copy.write(trace.read())
os.write(1, b"written\\n")
if sys.argv[2] in ("exit", "findings"):
    os._exit(7)
if sys.argv[2] == "segfault":
    ctypes.string_at(0)
time.sleep(600)
"""
# How a program ends: the exit code, and what the report says of it.
ENDS = {
    "kill": (137, "was killed by SIGKILL after"),
    "interrupt": (130, "was interrupted after"),
    "terminate": (143, "was interrupted after"),
    "time limit": (124, "did not end within 3 s and was stopped"),
    "exit": (7, "ended with exit code 7 after"),
    "segfault": (139, "was killed by SIGSEGV after"),
    "findings": (2, "ended with exit code 7 after"),
}


@pytest.fixture
def start(tmp_path):
    """Start breakscope in tmp_path; a function that gives the process."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": PYTHONPATH, "TERM": "xterm"}
    environment.pop("TORCH_TRACE", None)

    def run(*arguments, **options):
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True} | options
        return subprocess.Popen(
            [sys.executable, "-m", "breakscope", *map(str, arguments)],
            cwd=tmp_path,
            env=environment,
            **options,
        )

    return run


def child_of(process):
    (child,) = [
        int(n) for n in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    ]
    return child


def breaks(report):
    return {(f.path, f.line): f.count for f in report.findings if f.kind == "break"}


def test_a_program_with_children(start, tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    done = start(
        "trace",
        "--no-progress",
        "--save",
        "saved.json",
        "--keep",
        "raw",
        "--",
        sys.executable,
        "program.py",
        "--option",
        text=False,
    )
    out, err = done.communicate(timeout=300)
    assert done.returncode == 3, "the program's own"
    loaded = "[[2.0, 2.0]]\n[[4.0, 4.0]]\n"
    assert out == f"parent\n{loaded * 2}".encode() + bytes(range(256)), "and nothing of ours"
    err = err.decode()
    assert err.startswith("said to stderr\n")
    report = from_json((tmp_path / "saved.json").read_bytes())
    assert breaks(report) == {("program.py", 8): 1, ("program.py", 13): 2}
    assert {f.evidence for f in report.findings} == {"confirmed"}
    assert (report.run.exit_code, report.run.status, len(report.run.processes)) == (3, "failed", 3)
    assert report.torch and report.run.capture_checked
    (error,) = report.errors
    assert "ended with exit code 3 after" in error.message

    again, raw = start("report", "saved.json"), start("report", "raw", "--format", "json")
    assert again.communicate(timeout=300)[0] == err.removeprefix("said to stderr\n")
    assert breaks(from_json(raw.communicate(timeout=300)[0].encode())) == breaks(report)
    assert raw.returncode == 1


LISTED = """\
import torch


@torch.compile(backend="eager")
def f(x, k):
    if x.sum() > 0:
        x = x + 1
    return x * k


f(torch.ones(2), 1)
f(torch.ones(2), 2)
print("said")
"""


def test_events_are_listed_and_budgets_decide(start, tmp_path):
    """What a log gets: a line for each event before the report, whose budget is the exit code of a
    program that ended well."""
    (tmp_path / "listed.py").write_text(LISTED)
    budget = ("--max-breaks", "0", "--max-recompiles-after", "3600s", "--min-coverage", "50")
    done = start("trace", *budget, "--save", "saved.json", "--", sys.executable, "listed.py")
    out, err = done.communicate(timeout=300)
    lines = [line for line in err.splitlines() if line.startswith("breakscope: listed.py:")]
    assert lines[0].startswith("breakscope: listed.py:6: BRK101 the graph ends at `x.sum() > 0`")
    assert all(" BRK708 compiled again: " in line for line in lines[1:]) and len(lines) > 1
    assert (out, done.returncode) == ("said\n", 1)
    assert "over budget: 1 break, 0 allowed\n" in err
    assert "budget kept: 0 recompiles after 3600 s, 0 allowed\n" in err
    saved = from_json((tmp_path / "saved.json").read_bytes())
    assert [budget.kept for budget in saved.budgets] == [False, True, True]
    recompiles = saved.run.recompiles
    assert recompiles and all(r.after_seconds > 0 and not r.call for r in recompiles)


def test_ranks(start, tmp_path):
    """Two ranks under torchrun: one report, and the first event where they part, which one of them
    did not survive."""
    (tmp_path / "train.py").write_text(RANKS)
    torchrun = [
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--standalone",
        "--nproc-per-node",
        "2",
        "train.py",
    ]
    done = start(
        "trace", "--format", "json", "--output", "out.json", "--timeout", "200", "--", *torchrun
    )
    err = done.communicate(timeout=300)[1]
    assert done.returncode == 1, err
    report = from_json((tmp_path / "out.json").read_bytes())
    assert breaks(report) == {("train.py", 11): 3}
    assert [(p.rank, p.compiles, p.recompiles) for p in report.run.processes] == [
        (0, 2, 0),
        (1, 3, 1),
    ]
    zero, one = report.run.divergence.events
    assert (report.run.divergence.position, zero.rank, zero.kind) == (3, 0, "nothing")
    assert (one.rank, one.kind, one.path, one.line) == (1, "recompile", "train.py", 9)
    assert "tensor 'x' dtype mismatch" in one.what
    reporting = start("report", "out.json")
    shown = reporting.communicate(timeout=300)[0].splitlines()[:4]
    assert shown[:3] == [
        "note: the run failed: what follows is what was seen until then",
        "ranks diverge: after 3 equal events",
        "rank 0: did nothing more",
    ]
    assert shown[3].startswith("rank 1: compiled `step` at train.py:9 again")


@pytest.mark.parametrize("how", ENDS)
def test_a_program_that_is_stopped(start, tmp_path, how):
    """A report every time, of all that was written before the end."""
    (tmp_path / "writer.py").write_text(WRITER)
    more = {"time limit": ["--timeout", "3"], "findings": ["--exit-code", "findings"]}.get(how, [])
    command = [
        sys.executable,
        "writer.py",
        ROOT / "tests" / "dynamic" / "golden" / "2.13.0.log",
        how,
    ]
    done = start("trace", "--save", "saved.json", *more, "--", *command, start_new_session=True)
    assert done.stdout.readline() == "written\n" or how == "time limit"
    if how == "kill":
        os.kill(child_of(done), signal.SIGKILL)
    if how == "interrupt":
        os.killpg(done.pid, signal.SIGINT)
    if how == "terminate":
        done.terminate()
    out, err = done.communicate(timeout=300)
    code, words = ENDS[how]
    assert (done.returncode, out) == (code, "") or (
        how == "time limit" and done.returncode == code
    ), err
    report = json.loads((tmp_path / "saved.json").read_text())
    (error,) = report["errors"]
    assert words in error["message"] and "breakscope: error" in err
    assert len(report["findings"]) == 5


def test_a_child_that_outlives_the_program(start, tmp_path):
    (tmp_path / "writer.py").write_text(WRITER)
    parent = (
        "import subprocess as s, sys; c = s.Popen(sys.argv[1:], stdout=s.PIPE, stderr=s.DEVNULL); "
        "c.stdout.readline(); print(c.pid)"
    )
    command = [
        sys.executable,
        "writer.py",
        ROOT / "tests" / "dynamic" / "golden" / "2.13.0.log",
        "stay",
    ]
    done = start(
        "trace",
        "--save",
        "saved.json",
        "--exit-code",
        "findings",
        "--",
        sys.executable,
        "-c",
        parent,
        *command,
    )
    out = done.communicate(timeout=300)[0]
    os.kill(int(out), signal.SIGKILL)
    report = json.loads((tmp_path / "saved.json").read_text())
    assert (done.returncode, len(report["findings"])) == (1, 5)
    assert f"a process of the program still runs (pid {int(out)})" in report["run"]["notes"][0]


def test_the_status_line(start):
    """The last row is ours while the program runs; at the end it is empty, and the whole screen
    scrolls again."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    done = start(
        "trace",
        "--",
        "sh",
        "-c",
        "echo one; sleep 2; echo two",
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
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
    assert (
        text.index(b"\033[1;23r")
        < text.index(b"breakscope: 0")
        < text.rindex(b"\033[24;1H\033[K\033[1;24r")
        < text.index(b"no compile was seen")
    )
    assert b"one\r\n" in text and b"two\r\n" in text


COUNTER = """\
import os, signal, sys, time
received = []
signal.signal(signal.SIGINT, lambda *arguments: received.append(1))
os.write(1, b"ready\\n")
end = time.monotonic() + 300
while not received and time.monotonic() < end:
    time.sleep(0.1)
time.sleep(0.5)
os.write(1, b"interrupts: %d\\n" % len(received))
sys.exit(5)
"""


def test_an_interrupt_from_a_terminal_arrives_once(start, tmp_path):
    """The terminal sends it to the program too, which may handle it and end as it likes."""
    (tmp_path / "counter.py").write_text(COUNTER)
    ours, theirs = pty.openpty()

    def take_terminal():
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    done = start(
        "trace",
        "--",
        sys.executable,
        "counter.py",
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        preexec_fn=take_terminal,
    )
    os.close(theirs)
    text = b""
    while b"ready" not in text:
        text += os.read(ours, 65536)
    os.write(ours, b"\x03")
    while True:
        try:
            text += os.read(ours, 65536)
        except OSError:
            break
    os.close(ours)
    assert done.wait(60) == 5
    assert b"interrupts: 1\r\n" in text and "was interrupted after" in " ".join(
        text.decode().split()
    )


def test_plain_progress(monkeypatch, capsys):
    """Not on a terminal: now and then a line, and only when something happened."""
    with status_line.StatusLine() as line:
        line.show("1 compile")
        assert capsys.readouterr().err == "", "a program that ends soon has no lines"
        monkeypatch.setattr(limits, "SECONDS_BETWEEN_LINES", 0.0)
        for counts in ("1 compile", "1 compile", "2 compiles"):
            line.show(counts)
    assert capsys.readouterr().err == "breakscope: 1 compile, 0 s\nbreakscope: 2 compiles, 0 s\n"
    with status_line.StatusLine(wanted=False) as line:
        line.show("1 compile")
    assert capsys.readouterr().err == ""


def test_events_are_lines_wherever_they_go(capsys):
    with status_line.StatusLine() as line:
        line.add("m.py:3: BRK101 a\nb \x1b[31m")
    assert capsys.readouterr().err == "breakscope: m.py:3: BRK101 a b \\x1b[31m\n"
    with status_line.StatusLine(wanted=False) as line:
        line.add("m.py:3: BRK101")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "Missing argument '-- CMD...'"),
        (["--", "no-such-command"], "cannot start no-such-command: No such file or directory"),
        (["--save", "nowhere/a.json", "--", "true"], "cannot write nowhere/a.json: no such folder"),
        (["--timeout", "0", "--", "true"], "--timeout"),
        (["--keep", "program.py", "--", "true"], "program.py"),
    ],
)
def test_wrong_use_is_one_line(start, tmp_path, arguments, said):
    (tmp_path / "program.py").write_text("")
    done = start("trace", *arguments)
    out, err = done.communicate(timeout=300)
    assert (done.returncode, out) == (2, "")
    assert err.startswith("breakscope: error: ") and err.count("\n") == 1 and said in err


def test_a_program_that_compiles_nothing(start):
    done = start("trace", "--", "true")
    out, err = done.communicate(timeout=300)
    assert (done.returncode, out) == (0, "") and "no compile was seen" in err
