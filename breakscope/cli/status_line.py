"""What is reported while someone else's program runs.

What happens is a plain line each, wherever it goes. How far things are is one line at the bottom of
a terminal: the program scrolls above it, its output is not touched, and what it writes does not
meet ours. Elsewhere, and on a terminal that does not say how large it is, it is a plain line now
and then, when there is something new to report.
"""

from __future__ import annotations

import os
import sys
import time
from types import TracebackType

from breakscope import limits
from breakscope.report.escaping import in_one_line, visible_line

SAVE, RESTORE = "\0337", "\0338"


class StatusLine:
    """A context in which `show` keeps the last row of the terminal behind stderr up to date, or
    writes plain lines."""

    def __init__(self, wanted: bool = True) -> None:
        self.wanted = wanted
        self.size = _terminal_size() if wanted else None
        self.begun = False
        self.start = self.last = time.monotonic()
        self.text = ""

    def __enter__(self) -> StatusLine:
        return self

    def add(self, event: str) -> None:
        """Print what happened, in one line, which a terminal shows as one."""
        if not self.wanted:
            return
        text = visible_line(f"breakscope: {in_one_line(event)}")
        size = _terminal_size()
        most = size.columns - 1 if size is not None else len(text)
        _write(f"{text if len(text) <= most else text[: most - 3] + '...'}\n")

    def show(self, news: str) -> None:
        """Print it, with the seconds since the beginning, unless something was printed a moment ago."""
        now = time.monotonic()
        text = f"breakscope: {news}, {now - self.start:.0f} s"
        if self.size is not None:
            self._draw(text, now)
        elif self.wanted and now - self.last >= limits.SECONDS_BETWEEN_LINES and news != self.text:
            self.last, self.text = now, news
            _write(f"{text}\n")

    def _draw(self, text: str, now: float) -> None:
        size = _terminal_size() or self.size
        if self.begun and (
            now - self.last < limits.SECONDS_BETWEEN_DRAWINGS
            or (text == self.text and size == self.size)
        ):
            return
        if not self.begun or size != self.size:
            self._reserve(size)
        self.last, self.text, self.size, self.begun = now, text, size, True
        _write(f"{SAVE}\033[{size.lines};1H\033[K{text[: size.columns - 1]}{RESTORE}")

    def _reserve(self, size: os.terminal_size) -> None:
        """Let only the rows above the last one scroll; a new line first, so that the cursor stands
        in one of them."""
        _write(f"\n{SAVE}\033[1;{size.lines - 1}r{RESTORE}\033[1A")

    def __exit__(
        self, kind: type | None, problem: BaseException | None, where: TracebackType | None
    ) -> None:
        if self.begun and self.size is not None:
            _write(f"{SAVE}\033[{self.size.lines};1H\033[K\033[1;{self.size.lines}r{RESTORE}")


def _terminal_size() -> os.terminal_size | None:
    if os.environ.get("TERM", "dumb") == "dumb" or not _is_terminal():
        return None
    try:
        size = os.get_terminal_size(sys.stderr.fileno())
    except (OSError, ValueError):
        return None
    return size if size.lines >= 5 and size.columns >= 20 else None


def _is_terminal() -> bool:
    try:
        return sys.stderr.isatty()
    except ValueError:  # closed
        return True


def _write(text: str) -> None:
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except OSError:  # the terminal is gone
        pass
