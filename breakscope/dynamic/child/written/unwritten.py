"""Notices that the trace or the log could not be written: logging's handlers swallow that."""

from __future__ import annotations

import logging
import os
import sys

from breakscope.dynamic.child.written.progress_log import Progress

OURS = ("torch",)  # the loggers whose records are read


def watch_log_handlers(progress: Progress) -> None:
    """From now on, a record of torch's that a handler cannot write to its file is noted, once."""
    handle, noted, owner = logging.Handler.handleError, [], os.getpid()

    def handle_error(handler: logging.Handler, record: logging.LogRecord) -> None:
        problem = sys.exc_info()[1]
        ours = record.name.partition(".")[0] in OURS and os.getpid() == owner
        if ours and isinstance(problem, OSError) and not noted:
            noted.append(problem)
            progress.note("unwritten", problem=problem.strerror or str(problem))
        handle(handler, record)

    logging.Handler.handleError = handle_error
