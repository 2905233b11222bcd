"""Text that is cut to a length that a report has room for, code once and in its middle; and names
that were meant."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from itertools import zip_longest

from breakscope import limits


def shortened(text: str, most: int) -> str:
    """The text, or its beginning with dots, in at most so many characters."""
    return text if len(text) <= most else text[: most - 3] + "..."


def middle_out(code: str, most: int) -> str:
    """The code, or its beginning and its end with dots between them, in at most so many
    characters: what an expression ends with often says more than its middle."""
    if len(code) <= most:
        return code
    head = (most - 3) * 2 // 3
    return f"{code[:head]}...{code[head + 3 - most :]}"


def exception_text(problem: BaseException) -> str:
    """The type of an exception and the beginning of its message, in one line."""
    text = shortened(" ".join(str(problem).split()), limits.LONGEST_EXCEPTION_TEXT)
    return f"{type(problem).__name__}: {text}" if text else type(problem).__name__


def nearest(name: str, known: Iterable[str], most: int = 3) -> list[str]:
    """Those of the known names that may have been meant, the nearest first, in whatever case."""
    from difflib import SequenceMatcher, get_close_matches  # only a mistake needs it

    def distance(word: str) -> tuple:
        others = sum(a != b for a, b in zip_longest(word, name.lower()))
        return -SequenceMatcher(None, word, name.lower()).ratio(), others, word

    by_word: dict[str, list[str]] = {}
    for one in known:
        by_word.setdefault(one.lower(), []).append(one)
    near = sorted(get_close_matches(name.lower(), by_word, max(len(by_word), 1)), key=distance)
    near = near or [word for word in by_word if name and name.lower() in word]
    return [one for word in near for one in by_word[word]][:most]


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """ "; did you mean X or Y?" for the end of a refusal; "" when nothing is near."""
    near = nearest(name, known)
    return f"; did you mean {' or '.join(near)}?" if near else ""


def missing_file(path: str) -> str:
    """ "no such file or folder: PATH", with the names in its folder that are near."""
    folder, name = os.path.split(path.rstrip("/\\"))
    try:
        beside = os.listdir(folder or ".")
    except OSError:
        beside = []
    near = [os.path.join(folder, one) for one in nearest(name, beside)]
    hint = f"; did you mean {' or '.join(near)}?" if near else ""
    return f"no such file or folder: {path}{hint}"


def without_numbers(text: str) -> str:
    """In one line and without numbers, which another program of the same fault changes."""
    return re.sub(r"\d+", "#", " ".join(text.split()))


def shown_home(home: str) -> str:
    """Where a container lives, for a message: "self.history", "global SEEN" and "default cache" as a reader says it."""
    kind, _, name = home.rpartition(" ")
    words = {
        "global": "the global ",
        "nonlocal": "the outer function's ",
        "default": "the default value of ",
    }
    return f"{words.get(kind, '')}`{name}`"
