"""What a call prints, logs and warns of."""

from __future__ import annotations

import contextlib
import io
import logging
import os
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field

import torch

TORCH = os.path.dirname(os.path.abspath(torch.__file__)) + os.sep
IN_C = "(Triggered internally at "


@dataclass
class Heard:
    """In the order in which it came; torch's own logs and warnings are left out."""

    printed: list[str] = field(default_factory=list)
    logged: list[str] = field(default_factory=list)
    warned: list[str] = field(default_factory=list)


@contextlib.contextmanager
def listening() -> Iterator[Heard]:
    """Within, what is written to sys.stdout and sys.stderr, logged and warned of is kept, and goes
    nowhere else."""
    heard, out, error = Heard(), io.StringIO(), io.StringIO()
    handle, show = logging.Logger.handle, warnings.showwarning

    def keep_record(logger: logging.Logger, record: logging.LogRecord) -> None:
        if logger.name.partition(".")[0] == "torch":
            handle(logger, record)
        elif logger.filter(record) and not logger.disabled:
            heard.logged.append(f"{record.name} {record.levelname} {_text(record)}")

    def keep_warning(message, category, filename, lineno, file=None, line=None) -> None:
        # torch's C++ code warns at the user's line: of a scalar that is read, of a deprecated call
        if not os.path.abspath(filename).startswith(TORCH) and IN_C not in str(message):
            heard.warned.append(f"{category.__name__}: {message}")

    logging.Logger.handle, warnings.showwarning = keep_record, keep_warning
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
            yield heard
    finally:
        logging.Logger.handle, warnings.showwarning = handle, show
        heard.printed += [*out.getvalue().splitlines(), *error.getvalue().splitlines()]


def forget_warnings() -> None:
    """What was warned of once is warned of again, in every file."""
    for module in list(sys.modules.values()):
        registry = getattr(module, "__dict__", {}).get("__warningregistry__")
        if isinstance(registry, dict):
            registry.clear()


def _text(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except Exception as problem:
        return f"a message that cannot be formatted: {type(problem).__name__}"
