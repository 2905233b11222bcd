"""What breakscope starts ends with it, and what it captures is whole or known not to be; everything
here is a real process."""

import fcntl
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from import_path import PYTHONPATH

from breakscope.dynamic.capture import folders
from breakscope.dynamic.capture.folders import remove_left, run_folder
from breakscope.dynamic.capture.supervised import Supervised
from breakscope.dynamic.capture.supervisor import LOCK
from breakscope.errors import UserError

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="finds processes in /proc")
ROOT = Path(__file__).resolve().parents[3]
# what leaves a program: a session of its own, no environment, an orphan
LEAVES = """\
import os, subprocess, time
subprocess.Popen(["sleep", "900"], start_new_session=True)
subprocess.Popen(["sleep", "900"], start_new_session=True, env={})
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execve("/bin/sleep", ["sleep", "900"], {})
    os._exit(0)
open("ready", "w").close()
time.sleep(900)
"""
MODEL = """\
import torch

def make():
    exec(open("leaves.py").read())

class Model(torch.nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            x = x * 2
        return x.sum().item()

def model():
    return Model(), (torch.ones(3),), {}
"""


@pytest.fixture
def place(tmp_path):
    """A folder whose processes are told apart by their working directory."""
    folder = tmp_path.resolve()
    (folder / "temporary").mkdir()
    (folder / "leaves.py").write_text(LEAVES)
    (folder / "model.py").write_text(MODEL)
    yield folder
    for number in at_work(folder):
        os.kill(number, signal.SIGKILL)


def start(folder, *arguments, **options) -> subprocess.Popen:
    variables = {"TMPDIR": str(folder / "temporary"), "PYTHONPATH": PYTHONPATH}
    return subprocess.Popen(
        [sys.executable, "-m", "breakscope", *arguments],
        cwd=folder,
        env=os.environ | variables | {"OMP_NUM_THREADS": "1"},
        stdin=subprocess.DEVNULL,
        stdout=open(folder / "printed", "w"),  # a pipe would be open as long as what is left
        stderr=subprocess.STDOUT,
        **options,
    )


def at_work(folder: Path) -> list[int]:
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
            if state not in "ZX" and os.readlink(entry / "cwd") == str(folder):
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def until(condition) -> bool:
    """True when the condition becomes true in time."""
    for _ in range(600):
        if condition():
            return True
        time.sleep(0.1)
    return False


def left_behind(folder: Path) -> list[Path]:
    return list((folder / "temporary").glob("breakscope-*"))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize(
    "command",
    [
        ("run", "model.py::make"),
        ("check", "model.py", "--run", "model.py::make"),
        ("bench", "model.py::make"),
        ("trace", "--no-progress", "--", sys.executable, "leaves.py"),
    ],
    ids=lambda command: command[0],
)
def test_what_was_started_ends_with_us(place, command, number):
    process = start(place, *command)
    assert until((place / "ready").exists)
    assert len(at_work(place)) > 4 and left_behind(place)
    process.send_signal(number)
    process.wait()
    if command[0] == "trace" and number == signal.SIGTERM:  # is passed on, and we stay to report
        assert process.returncode == 143
    else:
        assert process.returncode == -number
    assert until(lambda: not at_work(place)), "processes are left"
    assert until(lambda: not left_behind(place)), "a folder is left"


@pytest.mark.nightly
def test_what_is_left_of_a_kill_of_all_goes_at_the_next_run(place):
    process = start(place, "run", "model.py::make", start_new_session=True)
    assert until((place / "ready").exists)
    supervisor = next(n for n in at_work(place) if b"supervisor.py" in command_of(n))
    os.kill(supervisor, signal.SIGKILL)  # the program goes with it, its children stay
    process.kill()
    process.wait()
    next_run = start(place, "run", "model.py::model", "--no-vary")
    next_run.wait()
    assert left_behind(place) == []
    marked = [n for n in at_work(place) if b"BREAKSCOPE_FOLDER" in environment_of(n)]
    assert marked == []


def command_of(number: int) -> bytes:
    return Path(f"/proc/{number}/cmdline").read_bytes()


def environment_of(number: int) -> bytes:
    return Path(f"/proc/{number}/environ").read_bytes()


def test_processes_of_a_check_end_with_it(place):
    for number in range(200):  # the files of one folder stay together
        (place / "many" / f"part{number % 8}").mkdir(parents=True, exist_ok=True)
        file = place / "many" / f"part{number % 8}" / f"model{number}.py"
        file.write_text((ROOT / "samples" / "moe.py").read_text() * 5)
    process = start(place, "check", "many", "--jobs", "4")
    assert until(lambda: len(at_work(place)) > 4)
    process.kill()
    process.wait()
    assert until(lambda: not at_work(place))


def test_a_folder_in_use_is_left_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(folders.tempfile, "gettempdir", lambda: str(tmp_path))
    with run_folder() as first, run_folder() as second:
        assert first != second and first.is_dir() and second.is_dir()
    assert list(tmp_path.iterdir()) == []


def test_what_only_has_the_name_is_left_alone(tmp_path):
    (tmp_path / "breakscope-notes").mkdir()
    (tmp_path / "breakscope-notes" / "mine.txt").touch()
    os.utime(tmp_path / "breakscope-notes", (0, 0))
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / LOCK).touch()
    (tmp_path / "breakscope-link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "breakscope-old").mkdir()
    (tmp_path / "breakscope-old" / LOCK).touch()
    (tmp_path / "breakscope-old" / "link").symlink_to(tmp_path / "elsewhere")
    held = os.open(tmp_path / "elsewhere" / LOCK, os.O_RDWR)
    fcntl.flock(held, fcntl.LOCK_EX)
    remove_left(tmp_path)
    os.close(held)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["breakscope-link", "breakscope-notes", "elsewhere"]
    assert (tmp_path / "elsewhere" / LOCK).exists()


def test_nowhere_to_write(tmp_path, monkeypatch):
    monkeypatch.setattr(folders.tempfile, "gettempdir", lambda: str(tmp_path / "absent"))
    with pytest.raises(UserError, match=r"cannot write to .*absent: No such file"), run_folder():
        pass


def supervised(tmp_path, *command, **options) -> Supervised:
    given = {"own_session": True, "stdout": subprocess.PIPE} | options
    return Supervised(command, dict(os.environ), tmp_path, **given)


def test_a_program_that_ends_by_itself(tmp_path):
    program = supervised(tmp_path, sys.executable, "-c", "print('out'); raise SystemExit(7)")
    assert program.stdout.read() == b"out\n"
    assert (program.wait(), program.poll()) == (7, 7)
    program.close()


def test_programs_that_end_at_once(tmp_path):
    for code in range(20):
        program = supervised(tmp_path, "sh", "-c", f"exit {code}")
        assert program.wait(30) == code
        program.close()


def test_a_program_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError):
        supervised(tmp_path, "no-such-program")


def test_a_program_over_its_limit(tmp_path):
    program = supervised(tmp_path, "sleep", "900")
    assert program.poll() is None
    with pytest.raises(subprocess.TimeoutExpired):
        program.wait(0.1)
    program.close()
    assert program.wait() == -signal.SIGKILL


def test_signals_that_we_ignore_reach_the_program(tmp_path):
    code = "import signal; print(signal.getsignal(15) is signal.SIG_DFL, signal.pthread_sigmask(0, []))"
    program = supervised(tmp_path, sys.executable, "-c", code)
    assert program.stdout.read() == b"True set()\n"
    program.close()


@pytest.mark.nightly
@pytest.mark.parametrize("size", [0, 2_000, 20_000, 60_000])
def test_files_that_cannot_be_written(place, size):
    """A limit on the size of files stands in for a full disk."""
    pytest.importorskip("torch")
    limited = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))"
    (place / "model.py").write_text(f"{limited}\n{MODEL}")
    done = start(place, "run", "model.py::model", "--no-vary")
    done.wait()
    out = (place / "printed").read_text()
    assert done.returncode == 2 and not re.search(r"[1-9]\d* refuted", out)
    assert "could not be written" in out and "the capture is incomplete" in out, out
    assert left_behind(place) == []


def test_a_trace_that_was_cut(tmp_path):
    golden = ROOT / "tests" / "dynamic" / "golden" / "2.13.0.log"
    whole = golden.read_bytes()
    (tmp_path / "whole.log").write_bytes(whole)
    (tmp_path / "cut.log").write_bytes(whole[: len(whole) * 2 // 3 - 1].rstrip(b"\n"))
    command = [sys.executable, "-m", "breakscope", "report"]
    for name, cut in (("whole.log", False), ("cut.log", True)):
        done = subprocess.run(
            [*command, name], cwd=tmp_path, env=os.environ | {"PYTHONPATH": PYTHONPATH},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert ("was cut: it ends in the middle of a record" in done.stdout) is cut
