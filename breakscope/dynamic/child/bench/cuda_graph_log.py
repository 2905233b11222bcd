"""What inductor logs about CUDA graphs. Mutated inputs, new addresses and new sizes show only when
a graph is to be replayed, so no compile's metrics have them; its log has.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

LOGGERS = tuple(
    f"torch._inductor.{module}.__cudagraphs" for module in ("cudagraph_utils", "cudagraph_trees")
)


class _Collector(logging.Handler):
    def __init__(self, messages: list[str]) -> None:
        super().__init__(logging.DEBUG)
        self.messages = messages

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


@contextmanager
def listening() -> Iterator[list[str]]:
    """The messages of the block, those of debugging too: only then does inductor log why it records
    a graph again."""
    collector = _Collector([])
    loggers = [logging.getLogger(name) for name in LOGGERS]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.addHandler(collector)
        logger.setLevel(logging.DEBUG)
    try:
        yield collector.messages
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.removeHandler(collector)
            logger.setLevel(level)
