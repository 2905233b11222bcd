"""Which files differ from what git has committed.

git is asked for the names of committed contents only: `git status` and `git diff` run programs that a
repository's configuration names.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Mapping

from breakscope import limits

COMMAND = ("git", "-c", "core.fsmonitor=false", "--no-optional-locks", "--literal-pathspecs")


def uncommitted(files: Mapping[str, bytes]) -> list[str]:
    """Those of the files (absolute paths, with what they hold) that git has otherwise, or not at
    all; none of those that are in no repository, or where git cannot be asked."""
    folders: dict[str, list[str]] = {}
    for path in files:
        folders.setdefault(os.path.dirname(path), []).append(path)
    found = []
    for folder, paths in folders.items():
        committed = _committed(folder, [os.path.basename(path) for path in paths])
        if committed is not None:
            found += [p for p in paths if not _is(files[p], committed.get(os.path.basename(p)))]
    return sorted(found)


def _committed(folder: str, names: list[str]) -> dict[str, str] | None:
    """The committed content's name of each file, None outside of a repository."""
    try:
        done = subprocess.run(
            [*COMMAND, "ls-tree", "-z", "HEAD", "--", *names],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=limits.GIT_SECONDS,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    if done.returncode:
        return None
    found = {}
    for entry in done.stdout.split(b"\0"):
        about, tab, name = entry.partition(b"\t")
        if tab:
            found[os.fsdecode(name)] = about.split()[2].decode("ascii", "replace")
    return found


def _is(data: bytes, name: str | None) -> bool:
    """True when a content has git's name for it, as it is or with the line ends of a checkout
    undone."""
    if name is None:
        return False
    algorithm = hashlib.sha256 if len(name) == hashlib.sha256().digest_size * 2 else hashlib.sha1
    forms = (data, data.replace(b"\r\n", b"\n"))
    return any(algorithm(b"blob %d\0" % len(form) + form).hexdigest() == name for form in forms)
