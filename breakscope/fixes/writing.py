"""A changed file takes the place of the old one at once or not at all."""

from __future__ import annotations

import os
import stat
import tempfile
from contextlib import suppress

from breakscope.errors import UserError
from breakscope.reading import Unreadable, read_file


def replace_file(path: str, old: bytes, new: bytes) -> None:
    """Write a file that held `old`. It keeps its mode, its owner and, where it is a link, what it
    leads to takes the new bytes. Raises UserError, and then the file is as it was."""
    real = os.path.realpath(path)
    try:
        if read_file(real) != old:
            raise UserError(f"{path} was changed meanwhile, and is left as it is")
    except Unreadable as problem:
        raise UserError(f"{path} {problem}") from None
    try:
        found = os.stat(real)
        descriptor, beside = tempfile.mkstemp(
            dir=os.path.dirname(real), prefix=".breakscope-", suffix=".tmp"
        )
    except OSError as problem:
        raise UserError(f"cannot write {path}: {problem.strerror}") from None
    try:
        with open(descriptor, "wb") as file:
            file.write(new)
            file.flush()
            os.fsync(descriptor)
        _take_over(beside, real, found)
        os.replace(beside, real)
    except OSError as problem:
        _remove(beside)
        raise UserError(f"cannot write {path}: {problem.strerror}") from None
    except BaseException:
        _remove(beside)
        raise


def _take_over(new: str, old: str, found: os.stat_result) -> None:
    """Owner, mode and extended attributes."""
    if hasattr(os, "chown"):
        with suppress(OSError):  # only root may give a file away
            os.chown(new, found.st_uid, found.st_gid)
    os.chmod(new, stat.S_IMODE(found.st_mode))
    if hasattr(os, "listxattr"):
        with suppress(OSError):
            for name in os.listxattr(old):
                with suppress(OSError):
                    os.setxattr(new, name, os.getxattr(old, name))


def _remove(path: str) -> None:
    with suppress(OSError):
        os.unlink(path)
