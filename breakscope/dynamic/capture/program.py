"""Someone else's program, started with Dynamo's trace switched on and otherwise left alone."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from breakscope import limits
from breakscope.dynamic.capture.supervised import Supervised
from breakscope.dynamic.trace.processes import TEXT_LOG
from breakscope.errors import UserError


@dataclass(frozen=True)
class Ended:
    """How a program ended. `code` is its exit code, negative for a signal; `seconds` the time it
    ran."""

    code: int
    seconds: float
    timed_out: bool = False
    interrupted: bool = False

    @property
    def exit_code(self) -> int:
        """The code that a shell would show: 128 and more for a signal, 124 for a time limit, as
        `timeout` has it."""
        if self.timed_out:
            return 124
        return 128 - self.code if self.code < 0 else self.code


def run_program(
    command: Sequence[str],
    folder: Path,
    timeout: float | None,
    tick: Callable[[], None],
    environment: Mapping[str, str] = MappingProxyType({}),
    removed: Sequence[Path] = (),
    silent: bool = False,
) -> Ended:
    """Run a program to its end, with all its children writing their traces into `folder`;
    `environment` is added to its own.

    It keeps our stdin, stdout, stderr (`silent`: it has none), terminal and working directory. Interrupts and termination
    are passed on to it; we stay to report, and of termination its children end too. `tick` is called a few times a second. When we are
    killed, it ends with all its children, and the folders in `removed` go. Raises UserError when
    the program cannot be started.
    """
    began = time.monotonic()
    interrupts = _Interrupts()
    with interrupts.passed_on():
        program = _started(command, folder, environment, silent, *removed)
        try:
            interrupts.pass_to(program)
            timed_out = _wait(program, began + timeout if timeout else None, tick)
            if timed_out:
                _stop(program)
            code = program.wait()
            if interrupts.terminated:
                program.kill()
        finally:
            program.close()
    return Ended(code, time.monotonic() - began, timed_out, bool(interrupts.received))


def _started(
    command: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    silent: bool,
    *removed: Path,
) -> Supervised:
    nothing = subprocess.DEVNULL if silent else None
    try:
        return Supervised(
            command,
            {
                "TORCH_LOGS_OUT": str(folder / TEXT_LOG),
                **os.environ,
                **environment,
                "TORCH_TRACE": str(folder),
            },
            folder,
            own_session=False,
            removed=removed,
            stdin=nothing,
            stdout=nothing,
            stderr=nothing,
        )
    except OSError as problem:
        hint = f"; write `python {command[0]}`" if command[0].endswith(".py") else ""
        raise UserError(f"cannot start {command[0]}: {problem.strerror}{hint}") from None


def _wait(program: Supervised, deadline: float | None, tick: Callable[[], None]) -> bool:
    """Wait for the program's end; True when the deadline came first."""
    while True:
        try:
            program.wait(limits.PROGRAM_TICK)
            return False
        except subprocess.TimeoutExpired:
            tick()
        if deadline is not None and time.monotonic() >= deadline:
            return True


def _stop(program: Supervised) -> None:
    """Terminate it, and kill what is left of it and of its children."""
    program.send_signal(signal.SIGTERM)
    try:
        program.wait(limits.GRACE_OF_PROGRAM)
    except subprocess.TimeoutExpired:
        pass
    program.kill()


class _Interrupts:
    """What is meant to end us, and goes to the program instead: from before it is started, so that
    none is missed."""

    def __init__(self) -> None:
        self.received: list[int] = []
        self.early: list[int] = []  # before there was a program
        self.program: Supervised | None = None
        self.first = 0.0  # time.monotonic() of the first

    @property
    def terminated(self) -> bool:
        """True when we were asked to end, and not interrupted."""
        return any(number != signal.SIGINT for number in self.received)

    @contextmanager
    def passed_on(self) -> Iterator[None]:
        """Until the program has ended."""
        names = [name for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
        before = {}
        try:
            for name in names:
                number = getattr(signal, name)
                if signal.getsignal(number) is not signal.SIG_IGN:  # nohup means it
                    before[number] = signal.signal(number, self._take)
        except ValueError:  # not in the main thread: whoever called us has the signals
            pass
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def pass_to(self, program: Supervised) -> None:
        """From now on there is a program, which gets what came before."""
        self.program = program
        for number in self.early:
            program.send_signal(number)

    def _take(self, number: int, frame: object) -> None:
        """A terminal's Ctrl-C has reached the program already, so the first is passed on only where
        no terminal sent it."""
        self.first = self.first or time.monotonic()
        self.received.append(number)
        if self.program is None:
            self.early.append(number)
        elif (
            len(self.received) >= limits.KILLING_INTERRUPT
            and time.monotonic() - self.first >= limits.ONE_INTERRUPT_SECONDS
        ):
            self.program.kill()
        elif number != signal.SIGINT or len(self.received) > 1 or not _in_foreground():
            self.program.send_signal(number)


def _in_foreground() -> bool:
    """True when a terminal's Ctrl-C goes to our process group."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)
