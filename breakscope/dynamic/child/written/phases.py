"""Marks in the structured trace and the text log: which phase of a run the following records belong
to."""

from __future__ import annotations

import contextlib
import logging

import torch

from breakscope.dynamic.trace.phases import PHASE


def mark_phase(name: str) -> None:
    """Write a marker into the structured trace and the text log: what follows belongs to this
    phase.

    A program's logging.config.dictConfig may have disabled torch's loggers, by default and without
    meaning to.
    """
    for logger_name, logger in logging.root.manager.loggerDict.items():
        if logger_name.startswith("torch") and isinstance(logger, logging.Logger):
            logger.disabled = False
    logging.getLogger("torch._dynamo").warning("%s %s", PHASE, name)
    # an internal function; without markers the reader takes all as one phase
    with contextlib.suppress(Exception):
        torch._logging.trace_structured(
            "artifact",
            lambda: {"name": PHASE, "encoding": "string"},
            payload_fn=lambda: name,
        )
