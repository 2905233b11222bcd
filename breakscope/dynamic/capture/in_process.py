"""Listening to Dynamo in this process: the records that TORCH_TRACE would write, kept while a block
runs.

Dynamo writes its structured trace to the logger `torch.__trace` as soon as that has a handler. A
handler of ours is all that is added, and everything is put back: environment, Dynamo's
configuration, caches and counters are never touched, and torch is not imported.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from breakscope.dynamic.trace.records import ARTIFACTS, KINDS, Block

LOGGER = "torch.__trace"
NAMES = "torch._logging.structured"  # the module with the numbers that file names have in a trace


class _Listener(logging.Handler):
    """Keeps the records of the kinds that are read, as text; the objects in them live on otherwise."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.blocks: list[Block] = []
        self.unkept = 0

    def emit(self, record: logging.LogRecord) -> None:
        try:
            header = record.metadata
            if not (
                any(kind in header for kind in KINDS)
                or header.get("artifact", {}).get("name") in ARTIFACTS
            ):
                return
            lines = [] if record.payload is None else record.payload.split("\n")
            payload = "".join(f"\n\t{line}" for line in lines).encode("utf-8", "replace")
            self.blocks.append((os.getpid(), json.dumps(header, default=repr).encode(), payload))
        except Exception:  # the watched program goes on whatever happens here
            self.unkept += 1


@dataclass
class Captured:
    """What was captured; complete when the block has ended."""

    blocks: list[Block] = field(default_factory=list)
    # file names by number, from before the block
    names: dict[int, str] = field(default_factory=dict)
    unkept: int = 0  # records that could not be kept
    disabled: bool = False


@contextmanager
def listening() -> Iterator[Captured]:
    """Capture what Dynamo reports, in any thread, until the block ends; then everything is as it
    was."""
    logger, listener = logging.getLogger(LOGGER), _Listener()
    before, others, names = list(logger.handlers), _has_listener(logger), dict(_interned())
    captured = Captured(
        listener.blocks, {number: name for name, number in names.items()}, disabled=logger.disabled
    )
    # torch's own may remove itself while it handles a record, and the next would be passed over
    logger.handlers.insert(0, listener)
    try:
        yield captured
    finally:
        logger.removeHandler(listener)
        listener.close()
        captured.unkept = listener.unkept
        _put_back(logger, before)
        if not others and not _has_listener(logger):
            _forget(names)


def _has_listener(logger: logging.Logger) -> bool:
    """True when someone else listens. torch's own handler does where TORCH_TRACE gives it a folder."""
    return any(getattr(handler, "root_dir", "a folder") is not None for handler in logger.handlers)


def _put_back(logger: logging.Logger, before: list[logging.Handler]) -> None:
    """Torch's own handler without a folder removes itself at the first record: it comes back to
    where it stood."""
    for index, handler in enumerate(before):
        if handler not in logger.handlers and getattr(handler, "root_dir", "a folder") is None:
            logger.handlers.insert(index, handler)


def _interned() -> dict[str, int]:
    return getattr(sys.modules.get(NAMES), "INTERN_TABLE", {})


def _forget(names: dict[str, int]) -> None:
    """Dynamo writes a file name once per process: those that only we received it writes again for
    the next listener."""
    table = _interned()
    for name in [name for name in table if name not in names]:
        del table[name]
