"""Where the user's Python finds installed packages: an activated environment first, else the one
that runs breakscope.

A tool that was installed apart (by pipx, or as a pre-commit hook) lives in another environment than
the code that it reads.
"""

from __future__ import annotations

import os
import sys

ACTIVE = ("VIRTUAL_ENV", "CONDA_PREFIX")


def import_folders() -> tuple[str, ...]:
    """The folders that an import looks in, without the standard library and without folders that do
    not exist."""
    standard = os.path.dirname(os.__file__)
    running = [
        os.path.abspath(folder)
        for folder in sys.path
        if (folder and folder != standard and os.path.dirname(folder) != standard)
        or folder.endswith("-packages")
    ]
    return tuple(
        dict.fromkeys(folder for folder in (*_activated(), *running) if os.path.isdir(folder))
    )


def _activated() -> list[str]:
    """The folder of packages of an activated environment that is not the running one."""
    for variable in ACTIVE:
        prefix = os.environ.get(variable, "")
        if prefix and os.path.realpath(prefix) != os.path.realpath(sys.prefix):
            lib = os.path.join(prefix, "lib")
            versions = [name for name in names_in(lib) if name.startswith("python3")]
            return [os.path.join(lib, name, "site-packages") for name in versions] or [
                os.path.join(prefix, "Lib", "site-packages")
            ]
    return []


def names_in(folder: str) -> list[str]:
    """The names in a folder, sorted; none when it cannot be read."""
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []
