"""The environment of Python that the checked code runs in, found without running anything of it.

breakscope may be installed elsewhere: in an environment that a hook made, or by pipx. What lies there
decides nothing. The environment of the user's is, in this order: the one that is named; the
activated one; `.venv` or `venv` in the current folder or above it in the project; the one that
breakscope runs in, where it holds torch; conda's base. Where there is none of them, nothing is
known of what is installed.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator

from breakscope.errors import UserError
from breakscope.reading import Unreadable, read_file

BESIDE = (".venv", "venv")
# in a project's top folder
PROJECT_FILES = frozenset({"pyproject.toml", "setup.py", "setup.cfg", ".git"})
PYTHON = re.compile(r"python|pypy")
TORCH = ("torch", "version.py")
VERSION = re.compile(r"python(\d)\.(\d+)")


def import_folders(python: str = "") -> tuple[str, ...]:
    """The folders that an import of the user's looks in, without the standard library; none where no
    environment of the user's is known.

    `python` names an environment: its folder or its Python, which is not run. Raises UserError
    when it is none.
    """
    if python:
        return _named(python)
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return next(
        (tuple(dict.fromkeys((*_folders(paths), *found))) for found in _known() if found), ()
    )


def python_version(folders: tuple[str, ...]) -> tuple[int, int] | None:
    """The version of Python that an environment is of, by the names of its folders; None where they
    do not say."""
    found = next(filter(None, map(VERSION.search, folders)), None)
    return (int(found[1]), int(found[2])) if found else None


def names_in(folder: str) -> list[str]:
    """The names in a folder, sorted; none when it cannot be read."""
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _known() -> Iterator[tuple[str, ...]]:
    """The folders of the environments that may be the user's, the first first."""
    base = os.environ.get("CONDA_DEFAULT_ENV") == "base"
    conda = os.environ.get("CONDA_PREFIX", "")
    for prefix in (os.environ.get("VIRTUAL_ENV", ""), "" if base else conda):
        # a hook activates the environment that it made for breakscope
        yield _running() if prefix and _is_running(prefix) else _folders_of(prefix)
    yield _beside()
    yield _running()
    yield _folders_of(conda) if base and not _is_running(conda) else ()


def _is_running(prefix: str) -> bool:
    return os.path.realpath(prefix) == os.path.realpath(sys.prefix)


def _running() -> tuple[str, ...]:
    """The folders of the environment that breakscope runs in, where it holds torch."""
    standard = os.path.dirname(os.__file__)
    found = _folders(
        os.path.abspath(folder)
        for folder in sys.path
        if (folder and folder != standard and os.path.dirname(folder) != standard)
        or folder.endswith("-packages")
    )
    return found if any(os.path.isfile(os.path.join(f, *TORCH)) for f in found) else ()


def _beside() -> tuple[str, ...]:
    """The folders of the environment in the current folder, or above it up to the project's top."""
    folder = os.path.abspath(os.curdir)
    while True:
        for name in BESIDE:
            prefix = os.path.join(folder, name)
            if os.path.isfile(os.path.join(prefix, "pyvenv.cfg")):
                return _running() if _is_running(prefix) else _folders_of(prefix)
        above = os.path.dirname(folder)
        if above == folder or any(os.path.exists(os.path.join(folder, f)) for f in PROJECT_FILES):
            return ()
        folder = above


def _named(python: str) -> tuple[str, ...]:
    """The folders of an environment that is named by its folder, or by its Python."""
    path = python
    if not os.path.exists(path):
        import shutil  # brings the archive formats along

        path = shutil.which(python) or python
    # not what it is a link to: an environment's Python is one to the Python that it was made of
    prefixes = [path] if os.path.isdir(path) else []
    if PYTHON.match(os.path.basename(path)):
        path = os.path.abspath(path)
        prefixes = [os.path.dirname(os.path.dirname(p)) for p in (path, os.path.realpath(path))]
    version = VERSION.search(os.path.basename(os.path.realpath(path)))
    for prefix in prefixes:
        found = _folders_of(os.path.abspath(prefix), version[0] if version else "")
        if found:
            return found
    raise UserError(f"--python: {python} is no environment of Python, nor the Python of one")


def _folders_of(prefix: str, version: str = "") -> tuple[str, ...]:
    """The folders of packages below a prefix, and what is added to them; of a Python that several
    share, those of the version ("python3.12"), where it is given."""
    if not prefix:
        return ()
    libraries = (os.path.join(prefix, "lib"), os.path.join(prefix, "local", "lib"))
    pythons = [
        os.path.join(folder, name)
        for folder in libraries
        for name in names_in(folder)
        if name.startswith("python3")
    ]
    found = [
        os.path.join(folder, name)
        for folder in pythons
        for name in names_in(folder)
        if name.endswith("-packages") and not name.startswith(".")
    ]
    found.append(os.path.join(prefix, "Lib", "site-packages"))
    if version:
        found = [f for f in found if version == (VERSION.search(f) or [version])[0]]
    found = [folder for folder in sorted(found) if os.path.isdir(folder)]
    added = [path for folder in found for path in _added(folder)]
    return _folders((*found, *added, *_shared(prefix)))


def _added(folder: str) -> Iterator[str]:
    """The folders that files ending in .pth add, as those of packages that are installed by a link
    to their source. Lines of code are left alone."""
    for name in names_in(folder):
        if name.endswith(".pth"):
            for line in _lines(os.path.join(folder, name)):
                if line and not line.startswith(("#", "import ", "import\t")):
                    yield os.path.abspath(os.path.join(folder, line))


def _shared(prefix: str) -> tuple[str, ...]:
    """The folders of the Python that an environment was made of, where it shares them."""
    lines = (line.partition("=") for line in _lines(os.path.join(prefix, "pyvenv.cfg")))
    settings = {key.strip().lower(): value.strip() for key, _, value in lines}
    if settings.get("include-system-site-packages", "").lower() != "true":
        return ()
    version = "python" + ".".join(settings.get("version", "").split(".")[:2])
    base = os.path.dirname(settings.get("home", ""))
    return () if base == prefix else _folders_of(base, version if VERSION.match(version) else "")


def _lines(file: str) -> list[str]:
    try:
        text = read_file(file).decode("utf-8", "surrogateescape")
    except Unreadable:
        return []
    return [line.strip() for line in text.splitlines()]


def _folders(paths: Iterable[str]) -> tuple[str, ...]:
    """Those of the paths that are folders, each once."""
    return tuple(dict.fromkeys(path for path in paths if path and os.path.isdir(path)))
