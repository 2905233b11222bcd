"""Starting a program, passing signals on, stopping it in time; the programs here do without torch."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

from breakscope.dynamic.capture.program import Ended, run_program
from breakscope.dynamic.trace.processes import TEXT_LOG
from breakscope.errors import UserError

needs_posix = pytest.mark.skipif(os.name != "posix", reason="signals")
needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="finds children in /proc")


def run(code, folder, timeout=None, tick=lambda: None):
    return run_program([sys.executable, "-c", textwrap.dedent(code)], folder, timeout, tick)


@pytest.mark.parametrize(
    ("ended", "code"),
    [
        (Ended(0, 1.0), 0),
        (Ended(3, 1.0), 3),
        (Ended(-9, 1.0), 137),
        (Ended(-2, 1.0, interrupted=True), 130),
        (Ended(-15, 1.0, timed_out=True), 124),
    ],
)
def test_exit_code_as_a_shell_shows_it(ended, code):
    assert ended.exit_code == code


def test_the_program_gets_the_folder_and_its_code_is_reported(tmp_path):
    ended = run(
        "import os, pathlib, sys; pathlib.Path(os.environ['TORCH_TRACE'], 'a').touch(); sys.exit(7)",
        tmp_path,
    )
    assert ended.code == 7 and not ended.timed_out and (tmp_path / "a").exists()


@pytest.mark.parametrize("own", ["", "mine.txt"])
def test_what_torch_logs_is_kept_beside_the_traces_unless_the_user_has_it(
    tmp_path, monkeypatch, own
):
    monkeypatch.delenv("TORCH_LOGS_OUT", raising=False)
    if own:
        monkeypatch.setenv("TORCH_LOGS_OUT", own)
    run(
        "import os, pathlib; pathlib.Path(os.environ['TORCH_TRACE'], 'log').write_text(os.environ['TORCH_LOGS_OUT'])",
        tmp_path,
    )
    assert (tmp_path / "log").read_text() == (own or str(tmp_path / TEXT_LOG))


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["no-such-command"], "cannot start no-such-command: No such file"),
        (["script.py"], "; write `python script.py`"),
    ],
)
def test_what_cannot_be_started(tmp_path, command, words):
    with pytest.raises(UserError, match=words):
        run_program(command, tmp_path, None, lambda: None)


@needs_posix
def test_killed(tmp_path):
    assert (
        run("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", tmp_path).code
        == -signal.SIGKILL
    )


@needs_linux
def test_time_limit_ends_children_too(tmp_path, monkeypatch):
    """A program that does not care for SIGTERM, with a child that has left it."""
    monkeypatch.setattr("breakscope.limits.GRACE_OF_PROGRAM", 0.5)
    ended = run(
        """
        import os, pathlib, signal, subprocess, sys, time
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
        pathlib.Path(os.environ["TORCH_TRACE"], "child").write_text(str(child.pid))
        time.sleep(600)
    """,
        tmp_path,
        timeout=1.5,
    )
    assert ended.timed_out and ended.exit_code == 124 and ended.seconds < 60
    child = Path("/proc", (tmp_path / "child").read_text(), "stat")
    for _ in range(100):
        if not child.exists() or child.read_text().rpartition(")")[2].split()[0] in "ZX":
            return
        time.sleep(0.1)
    pytest.fail("the child lives")


@needs_posix
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_are_passed_on_and_we_stay(tmp_path, number):
    """Where no terminal sent the interrupt, the program would not get it."""
    code = """
        import os, signal, sys, time
        signal.signal(signal.SIGINT, lambda *_: sys.exit(41))
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(41))
        open(os.environ["TORCH_TRACE"] + "/ready", "w").close()
        time.sleep(600)
    """
    ours = textwrap.dedent(f"""
        import sys
        from pathlib import Path
        from breakscope.dynamic.capture.program import run_program
        ended = run_program([sys.executable, "-c", {textwrap.dedent(code)!r}], Path({str(tmp_path)!r}), None, lambda: None)
        print(ended.code, ended.interrupted)
    """)
    root = Path(__file__).resolve().parents[3]
    process = subprocess.Popen(
        [sys.executable, "-c", ours],
        stdout=subprocess.PIPE,
        text=True,
        cwd=root,
        start_new_session=True,
    )
    while not (tmp_path / "ready").exists() and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(number)
    assert process.communicate(timeout=300)[0].strip() == "41 True"


def test_handlers_are_put_back_and_threads_may_run_it(tmp_path):
    before = signal.getsignal(signal.SIGINT)
    ended = []
    thread = threading.Thread(target=lambda: ended.append(run("pass", tmp_path)))
    thread.start()
    thread.join(60)
    ended.append(run("pass", tmp_path))
    assert [e.code for e in ended] == [0, 0] and signal.getsignal(signal.SIGINT) is before


@needs_posix
def test_an_interrupt_before_the_program_is_there_is_kept_for_it(tmp_path, monkeypatch):
    """Ctrl-C while we start it: it gets it, and we stay to report."""
    from breakscope.dynamic.capture import program

    start = program._started

    def late(*given):
        os.kill(os.getpid(), signal.SIGINT)
        return start(*given)

    monkeypatch.setattr(program, "_started", late)
    ended = run_program(["sleep", "600"], tmp_path, None, lambda: None)  # Python may end with 1
    assert ended.interrupted and ended.exit_code == 130


@needs_posix
@pytest.mark.parametrize(("interval", "code"), [(0.0, 41), (0.6, -signal.SIGKILL)])
def test_the_third_interrupt_kills_and_several_at_once_are_one(tmp_path, interval, code):
    """A wrapper may pass on what we get anyway; a person who wants it dead goes on pressing."""
    sent = []

    def press():
        if (
            (tmp_path / "ready").exists()
            and len(sent) < 3
            and (not sent or time.monotonic() - sent[-1] >= interval)
        ):
            for _ in range(1 if interval else 3):
                sent.append(time.monotonic())
                os.kill(os.getpid(), signal.SIGINT)

    ended = run(
        """
        import os, signal, sys, time
        received = []
        signal.signal(signal.SIGINT, lambda *_: received.append(1))
        open(os.environ["TORCH_TRACE"] + "/ready", "w").close()
        while not received:
            time.sleep(0.05)
        time.sleep(4)
        sys.exit(41)
    """,
        tmp_path,
        tick=press,
    )
    assert (ended.code, ended.interrupted, len(sent)) == (code, True, 3)
