"""Whether a program shows what it must: it is run in a fork, first in eager, then compiled."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import signal
import sys
import types
from collections.abc import Callable
from pathlib import Path

import torch
import torch._dynamo

from breakscope import limits
from breakscope.texts import without_numbers


def shows(text: str, wanted: dict, folder: Path) -> bool:
    """True when the program runs in eager, and compiled reports the wanted GB id, guard or error."""
    file = folder / "candidate.py"
    file.write_text(text, encoding="utf-8")
    code = compile(text, str(file), "exec")
    return bool(
        in_fork(lambda: _runs_in_eager(code, file))
        and in_fork(lambda: _reports(code, file, wanted))
    )


def in_fork(answer: Callable[[], int]) -> int:
    """The answer, below 256, of a process of its own: what the code registers, or breaks, ends with
    it. 0 when it raises or takes too long."""
    pid = os.fork()
    if pid == 0:
        with contextlib.suppress(BaseException):
            signal.alarm(limits.REPRO_RUN_SECONDS)
            _silence()
            os._exit(int(answer()))
        os._exit(0)
    status = os.waitpid(pid, 0)[1]
    return os.WEXITSTATUS(status) if os.WIFEXITED(status) else 0


def _silence() -> None:
    quiet = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(quiet, descriptor)
    logger = logging.getLogger("torch.__trace")
    for handler in list(logger.handlers):
        logger.removeHandler(handler)


def _runs_in_eager(code: types.CodeType, file: Path) -> bool:
    with torch.compiler.set_stance("force_eager"):
        _run(code, file)
    return True


def _reports(code: types.CodeType, file: Path, wanted: dict) -> bool:
    listener = _Listener()
    logging.getLogger("torch.__trace").addHandler(listener)
    try:
        _run(code, file)
    except Exception as problem:
        return wanted["kind"] == "error" and wanted["text"] in without_numbers(str(problem))
    return wanted["kind"] != "error" and any(
        wanted["text"] in found for kind, found in listener.found if kind == wanted["kind"]
    )


def _run(code: types.CodeType, file: Path) -> None:
    module = types.ModuleType("__main__")
    module.__file__ = str(file)
    sys.modules["__main__"] = module
    exec(code, vars(module))


class _Listener(logging.Handler):
    """Keeps what Dynamo reports of breaks and recompiles."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, str]] = []

    def emit(self, record: logging.LogRecord) -> None:
        name = getattr(record, "metadata", {}).get("artifact", {}).get("name")
        payload = str(getattr(record, "payload", "") or "")
        if name == "dynamo_graph_break_reason":
            self.found.append(("break", payload.lower()))
        elif name == "recompile_reasons":
            with contextlib.suppress(ValueError):
                payload = " ".join(map(str, _as_list(json.loads(payload))))
            self.found.append(("recompile", without_numbers(payload)))


def _as_list(value: object) -> list:
    return value if isinstance(value, list) else [value]
