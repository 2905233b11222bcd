"""Listening to Dynamo in this process: the records that TORCH_TRACE would write, kept while a block runs.

Dynamo writes its structured trace to the logger `torch.__trace` as soon as that has a handler. A handler of ours is all
that is added, and everything is put back: environment, Dynamo's configuration, caches and counters are never touched,
and torch is not imported.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from breakscope.dynamic.options import RunResult
from breakscope.dynamic.processes import Process
from breakscope.dynamic.trace import ARTIFACTS, KINDS, Block, read_blocks
from breakscope.dynamic.traced import understand
from breakscope.dynamic.tracing import result_of, switched_off
from breakscope.report.model import ReportError

LOGGER = "torch.__trace"
NAMES = "torch._logging.structured"  # the module with the numbers that file names have in a trace
NOTHING = ("no compile was seen: the block compiled nothing, or ran only what had been compiled before "
           "(watch from the first call on, or call `torch._dynamo.reset()` before)")
LOGGER_OFF = "the logger `torch.__trace` is disabled (as logging.config does unless disable_existing_loggers is False)"


class _Listener(logging.Handler):
    """Keeps the records of the kinds that are read, as text; the objects in them live on otherwise."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.blocks: list[Block] = []
        self.lost = 0

    def emit(self, record: logging.LogRecord) -> None:
        try:
            told = record.metadata
            if not (any(kind in told for kind in KINDS) or told.get("artifact", {}).get("name") in ARTIFACTS):
                return
            lines = [] if record.payload is None else record.payload.split("\n")
            payload = "".join(f"\n\t{line}" for line in lines).encode("utf-8", "replace")
            self.blocks.append((os.getpid(), json.dumps(told, default=repr).encode(), payload))
        except Exception:  # the watched program goes on whatever happens here
            self.lost += 1


@dataclass
class Heard:
    """What was heard; complete when the block has ended."""

    blocks: list[Block] = field(default_factory=list)
    names: dict[int, str] = field(default_factory=dict)  # file names by number, told before the block
    lost: int = 0  # records that could not be kept
    disabled: bool = False


@contextmanager
def listening() -> Iterator[Heard]:
    """Hear what Dynamo reports, in any thread, until the block ends; then everything is as it was."""
    logger, listener = logging.getLogger(LOGGER), _Listener()
    before, others, names = list(logger.handlers), _is_heard(logger), dict(_interned())
    heard = Heard(listener.blocks, {number: name for name, number in names.items()}, disabled=logger.disabled)
    logger.handlers.insert(0, listener)  # torch's own may remove itself while it is asked, and the next is passed over
    try:
        yield heard
    finally:
        logger.removeHandler(listener)
        listener.close()
        heard.lost = listener.lost
        _put_back(logger, before)
        if not others and not _is_heard(logger):
            _forget(names)


def heard_result(heard: Heard, target: str, rules: tuple[str, ...], problem: BaseException | None) -> RunResult:
    """The findings and facts of what was heard; `problem` is the exception that ended the block."""
    torch = sys.modules.get("torch")
    root = str(Path(torch.__file__).parent) if torch and getattr(torch, "__file__", None) else ""
    traced = understand(_processes(heard), root=root, version=str(getattr(torch, "__version__", "")))
    status = "failed" if problem is not None else "ok" if traced.seen.records else "no-capture"
    errors = () if problem is None else (ReportError(message=f"the block ended with {_named(problem)}"),)
    notes = (*switched_off(), *((LOGGER_OFF,) if heard.disabled else ()), *(() if traced.seen.records else (NOTHING,)))
    if heard.lost:
        notes = (*notes, f"{heard.lost} of Dynamo's records could not be kept")
    return result_of(traced, target, status, rules, errors, notes, None)


def _processes(heard: Heard) -> list[Process]:
    records = tuple(read_blocks(heard.blocks, heard.names))
    rank = next((record.rank for record in records if record.rank is not None), None)
    return [Process(os.getpid(), rank, records)] if records else []


def _named(problem: BaseException) -> str:
    text = " ".join(str(problem).split())
    return f"{type(problem).__name__}: {text[:200]}" if text else type(problem).__name__


def _is_heard(logger: logging.Logger) -> bool:
    """True when someone else listens. torch's own handler does where TORCH_TRACE gives it a folder."""
    return any(getattr(handler, "root_dir", "a folder") is not None for handler in logger.handlers)


def _put_back(logger: logging.Logger, before: list[logging.Handler]) -> None:
    """Torch's own handler without a folder removes itself at the first record: it comes back to where it stood."""
    for index, handler in enumerate(before):
        if handler not in logger.handlers and getattr(handler, "root_dir", "a folder") is None:
            logger.handlers.insert(index, handler)


def _interned() -> dict[str, int]:
    return getattr(sys.modules.get(NAMES), "INTERN_TABLE", {})


def _forget(names: dict[str, int]) -> None:
    """File names are told once per process: those that only we were told will be told again to whoever listens next."""
    table = _interned()
    for name in [name for name in table if name not in names]:
        del table[name]
