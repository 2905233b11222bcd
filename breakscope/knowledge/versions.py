"""The versions of torch: which have tables, which is installed, which one is the target."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache

from breakscope.environment import import_folders
from breakscope.rulekit.loader import rules_folder

DIFFERENCES = "differences.json"  # what a version's folder holds instead of tables of its own
VERSION = r"\d+(?:\.\d+)*"
METADATA = (".dist-info", ".egg-info")

_target: ContextVar[str | None] = ContextVar("the target version of torch", default=None)


@lru_cache(maxsize=1)
def shipped() -> list[str]:
    """The torch versions that tables exist for, oldest first."""
    folder = os.path.join(rules_folder(), "knowledge")
    files = ("calls.json", DIFFERENCES)
    versions = os.listdir(folder) if os.path.isdir(folder) else []
    found = [
        name
        for name in versions
        if any(os.path.isfile(os.path.join(folder, name, file)) for file in files)
    ]
    return sorted(found, key=numbers_of)


def target_version(folders: Iterable[str] | None = None) -> str:
    """The target version (see `targeting`), else that of the torch in the user's environment, or in
    these folders of one, read from its metadata without importing it; the newest shipped one
    without torch."""
    if (target := _target.get()) is not None:
        return target
    return _installed(import_folders() if folders is None else folders) or shipped()[-1]


def _installed(folders: Iterable[str]) -> str:
    """The installed torch's version, as the name of its metadata's folder has it; "" without torch."""
    for folder in folders:
        try:
            names = os.listdir(folder)
        except OSError:
            continue  # an archive, or nothing at all
        for name in names:
            if (
                name.startswith("torch-")
                and name.endswith(METADATA)
                and (found := re.match(VERSION, name[len("torch-") :]))
            ):
                return found.group()
            if name in ("torch.dist-info", "torch.egg-info"):
                return _version_inside(folder)
    return ""


def _version_inside(folder: str) -> str:
    """The version of a torch whose metadata's name has none: that of a checkout."""
    from importlib import metadata  # takes longer to import than all of the rules

    found = metadata.distributions(name="torch", path=[folder])
    return next((torch.version.partition("+")[0] for torch in found), "")


@contextmanager
def targeting(version: str) -> Iterator[None]:
    """Within, `load()`, `since()` and `target_version()` speak of this torch version. Raises
    ValueError when it is none."""
    numbers_of(version)
    token = _target.set(version)
    try:
        yield
    finally:
        _target.reset(token)


def since(version: str) -> bool:
    """True when the target version is this one or a newer one; a patch level does not
    count."""
    return numbers_of(target_version())[:2] >= numbers_of(version)[:2]


def out_of_range(version: str) -> str:
    """A note when `version` is older or newer than every shipped one, else ""."""
    first, last, asked = shipped()[0], shipped()[-1], numbers_of(version)[:2]
    if numbers_of(first)[:2] <= asked <= numbers_of(last)[:2]:
        return ""
    older = asked < numbers_of(first)[:2]
    near, word = (first, "older") if older else (last, "newer")
    return f"torch {version} is {word} than the versions that are known ({first} to {last}); treated as {near}"


@lru_cache(maxsize=64)
def numbers_of(version: str) -> tuple[int, ...]:
    """The parts of a version, three at least. Raises ValueError when it is none."""
    found = re.match(VERSION, version)
    if not found:
        raise ValueError(f"{version!r} is no torch version; write one such as 2.13 or 2.13.0")
    numbers = tuple(int(n) for n in found.group().split("."))
    return (*numbers, 0, 0)[: max(3, len(numbers))]
