"""What `--entry FILE::NAME` may name, and what was meant by one that names nothing."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from fnmatch import fnmatch

from breakscope.reading import Unreadable, read_file
from breakscope.static.project.files import relative_path
from breakscope.texts import did_you_mean

NAMED = rb"^(?:(?:async\s+)?def|class)\s+(\w+)|^(\w+)\s*="


def fits(path: str, pattern: str) -> bool:
    """True when the FILE part of an entry fits this absolute path."""
    relative = os.path.relpath(path).replace(os.sep, "/")
    return os.path.abspath(pattern) == path or any(
        fnmatch(p, pattern) for p in (path, relative, os.path.basename(path))
    )


def names_nothing(entry: str, files: Iterable[str]) -> str:
    """Why an entry names nothing in these files (absolute paths), with what it may have meant."""
    file, separator, name = entry.rpartition("::")
    if not separator:
        return f"--entry {entry} names no file; write FILE::NAME, such as '*::{name}'"
    files = list(files)
    fitting = [path for path in files if fits(path, file)]
    if not fitting:
        near = did_you_mean(file, map(relative_path, files))
        return f"--entry {entry}: {file} is not among the checked files{near}"
    near = did_you_mean(name, sorted({known for path in fitting for known in _names(path)}))
    return f"--entry {entry} names no function, class, method or object that was checked{near}"


def _names(path: str) -> list[str]:
    try:
        found = re.findall(NAMED, read_file(path), re.MULTILINE)
    except Unreadable:
        return []
    return [(defined or stored).decode("utf-8", "replace") for defined, stored in found]
