"""A program that ends when we end, however that comes: see supervisor.py, which starts it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from breakscope import limits
from breakscope.dynamic.capture.supervisor import DONE, END
from breakscope.errors import UserError

SUPERVISOR = Path(__file__).with_name("supervisor.py")
MARK = "BREAKSCOPE_FOLDER"  # what a program starts is known by it, see folders.py


class Supervised:
    """A running program. `pid` is the program's own; with `own_session` it leads a session and a
    process group of this number."""

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        folder: Path,
        *,
        own_session: bool,
        removed: Sequence[Path] = (),
        descriptors: Sequence[int] = (),
        stdin: int | None = None,
        stdout: int | None = None,
        stderr: int | None = None,
    ) -> None:
        """`removed` are folders that are removed when we end before the program, `descriptors`
        those that it inherits. Raises OSError when it cannot be started."""
        if os.name != "posix":
            raise UserError("programs are run on Linux and macOS only")
        self._end, theirs = socket.socketpair()
        self._told = b""
        self._code: int | None = None
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        try:
            # what is meant for the program, as a terminal's Ctrl-C, must not end its supervisor
            self._supervisor = subprocess.Popen(
                [sys.executable, "-I", "-S", str(SUPERVISOR), str(theirs.fileno())],
                pass_fds=(theirs.fileno(), *descriptors),
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                start_new_session=own_session,
            )
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
            theirs.close()
        self.stdout = self._supervisor.stdout
        self._send(
            {
                "command": list(command),
                "environment": {**environment, MARK: str(folder)},
                "own_session": own_session,
                "folders": list(map(str, removed)),
                "descriptors": list(descriptors),
                "kill_seconds": limits.KILL_SECONDS,
                "kill_tick": limits.KILL_TICK,
                "blocked": [int(number) for number in blocked],
            }
        )
        fact = self._fact(None) or {}
        if "error" in fact:
            self.close()
            raise OSError(fact["error"], fact["text"])
        self.pid: int = fact.get("pid", 0)

    def wait(self, timeout: float | None = None) -> int:
        """The exit code, negative for a signal; raises subprocess.TimeoutExpired."""
        if self._code is None:
            fact = self._fact(timeout)
            # a supervisor that was killed takes the program along
            self._code = (fact or {}).get("code", -signal.SIGKILL)
        return self._code

    def poll(self) -> int | None:
        """The exit code; None while the program runs."""
        try:
            return self.wait(0.0)
        except subprocess.TimeoutExpired:
            return None

    def send_signal(self, number: int) -> None:
        """To the program alone; nothing when it has ended."""
        self._kill(os.kill, number)

    def signal_group(self, number: int) -> None:
        """To the program's process group, of a program with a session of its own."""
        self._kill(os.killpg, number)

    def kill(self) -> None:
        """End the program and all that it started, where it has ended what it left."""
        self._ask(END)

    def close(self) -> None:
        """End what still runs of it; of a program that keeps to our session, that has ended, its
        children are left alone."""
        try:
            if self._code is None:
                self._ask(END)
                self.wait(2 * limits.KILL_SECONDS)
            self._ask(DONE)
            self._supervisor.wait(2 * limits.KILL_SECONDS)
        except subprocess.TimeoutExpired:  # something cannot be killed, as where a device hangs
            self._supervisor.kill()
            self._supervisor.wait()
        finally:
            self._end.close()

    def _ask(self, what: bytes) -> None:
        with contextlib.suppress(OSError):  # the supervisor is gone
            self._end.send(what)

    def _kill(self, kill, number: int) -> None:
        if self._code is None and self.pid:
            with contextlib.suppress(OSError):  # it has ended
                kill(self.pid, number)

    def _send(self, fact: dict) -> None:
        with contextlib.suppress(OSError):  # it is gone, which the next fact says
            self._end.sendall(json.dumps(fact).encode() + b"\n")

    def _fact(self, timeout: float | None) -> dict | None:
        """The next line from the supervisor; None when it is gone."""
        until = None if timeout is None else time.monotonic() + timeout
        while b"\n" not in self._told:
            self._end.settimeout(None if until is None else max(until - time.monotonic(), 1e-4))
            try:
                piece = self._end.recv(4096)
            except TimeoutError:
                raise subprocess.TimeoutExpired("", timeout) from None
            except OSError:
                return None
            if not piece:
                return None
            self._told += piece
        line, _, self._told = self._told.partition(b"\n")
        return json.loads(line)
