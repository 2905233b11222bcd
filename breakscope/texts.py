"""Text that is cut to a length that a report has room for."""

from __future__ import annotations

from breakscope import limits


def shortened(text: str, most: int) -> str:
    """The text, or its beginning with dots, in at most so many characters."""
    return text if len(text) <= most else text[: most - 3] + "..."


def exception_text(problem: BaseException) -> str:
    """The type of an exception and the beginning of its message, in one line."""
    text = " ".join(str(problem).split())[: limits.LONGEST_EXCEPTION_TEXT]
    return f"{type(problem).__name__}: {text}" if text else type(problem).__name__
