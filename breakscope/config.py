"""Settings from `[tool.breakscope]` of the nearest pyproject.toml at or above the working
directory.

    [tool.breakscope]
    select = ["BRK1", "BRK2"]           # codes or prefixes; everything when absent
    extend-select = ["BRK8"]            # in addition to `select`
    ignore = ["BRK405"]
    per-file-ignores = { "tests/*" = ["BRK4"] }
    exclude = ["third_party/", "*_pb2.py"]
    entry = ["train.py::make", "*::build"]
    rules = ["our_rules/"]              # folders of our own rule files
    torch = "2.13"                      # the torch version to assume; the installed one when absent
    format = "text"
    libraries = false                   # leave installed packages alone; true when absent
    cache = false                       # keep no answers for the next check; true when absent

Globs, files and folders are relative to the folder of the file. The command line wins over the
file.
"""

from __future__ import annotations

import os
from pathlib import Path

from msgspec import Struct

from breakscope.errors import UserError
from breakscope.reading import NotThere, Unreadable, read_file

LISTS = ("select", "extend-select", "ignore", "exclude", "entry", "rules")
STRINGS = ("torch", "format")
SWITCHES = ("libraries", "cache")
TABLES = ("per-file-ignores",)
KEYS = (*LISTS, *STRINGS, *SWITCHES, *TABLES)


class Config(Struct, frozen=True):
    """What the file says; empty where it says nothing. `rules` are absolute folders."""

    path: str = ""  # of the file, "" when there is none
    select: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    exclude: tuple[str, ...] = ()
    entry: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    torch: str = ""
    format: str = ""
    libraries: bool = True
    cache: bool = True
    root: str = ""  # the folder of the file


def load_config(start: Path | None = None) -> Config:
    """The settings that hold for the working directory (or for `start`); raises UserError when they
    are wrong."""
    try:
        folder = (start or Path.cwd()).resolve()
    except FileNotFoundError:
        raise UserError("the working directory does not exist any more") from None
    for candidate in (folder, *folder.parents):
        file = candidate / "pyproject.toml"
        try:
            data = read_file(file)
        except NotThere:
            continue
        except Unreadable as problem:
            raise UserError(f"{_shown(file)}: {problem}") from None
        if b"breakscope" in data:  # most projects say nothing of us: spare them the TOML parser
            settings = _section(data, _shown(file))
            if settings is not None:
                return _read(settings, file)
    return Config()


def _section(data: bytes, shown: str) -> dict | None:
    import tomllib

    try:
        document = tomllib.loads(data.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise UserError(f"{shown}: not valid TOML: {problem}") from None
    section = document.get("tool", {}).get("breakscope")
    if section is not None and not isinstance(section, dict):
        raise UserError(f"{shown}: [tool.breakscope] must be a table")
    return section


def _read(settings: dict, file: Path) -> Config:
    shown = _shown(file)
    for key in settings:
        if key not in KEYS:
            raise UserError(f"{shown}: unknown key {key!r} in [tool.breakscope]; {_advice(key)}")
    lists = {key: _strings(settings[key], key, shown) for key in LISTS if key in settings}
    texts = {key: _string(settings[key], key, shown) for key in STRINGS if key in settings}
    switches = {key: _switch(settings[key], key, shown) for key in SWITCHES if key in settings}
    values = {
        key.replace("-", "_"): value
        for key, value in (*lists.items(), *texts.items(), *switches.items())
    }
    values["rules"] = tuple(str(file.parent / folder) for folder in values.get("rules", ()))
    values["entry"] = tuple(_from_here(entry, file.parent) for entry in values.get("entry", ()))
    table = settings.get("per-file-ignores", {})
    if not isinstance(table, dict):
        raise UserError(
            f'{shown}: per-file-ignores must be a table such as {{ "tests/*" = ["BRK4"] }}'
        )
    ignores = tuple(
        (glob, _strings(codes, f"per-file-ignores.{glob!r}", shown))
        for glob, codes in table.items()
    )
    return Config(path=shown, root=str(file.parent), per_file_ignores=ignores, **values)


def _strings(value: object, key: str, shown: str) -> tuple[str, ...]:
    if isinstance(value, list) and all(isinstance(v, str) for v in value):
        return tuple(value)
    raise UserError(f"{shown}: {key} must be a list of strings, not {value!r}")


def _string(value: object, key: str, shown: str) -> str:
    if isinstance(value, str):
        return value
    raise UserError(f"{shown}: {key} must be a string, not {value!r}")


def _switch(value: object, key: str, shown: str) -> bool:
    if isinstance(value, bool):
        return value
    raise UserError(f"{shown}: {key} must be true or false, not {value!r}")


def _advice(key: str) -> str:
    import difflib

    near = difflib.get_close_matches(key.replace("_", "-"), KEYS, n=1)
    return f"did you mean {near[0]!r}?" if near else f"the keys are {', '.join(KEYS)}"


def _from_here(entry: str, folder: Path) -> str:
    """An entry whose file is named relative to `folder`, as seen from the working directory; globs
    stay as they are."""
    file, separator, name = entry.rpartition("::")
    if not separator or any(c in file for c in "*?["):
        return entry
    return f"{_shown(folder / file)}::{name}"


def _shown(file: Path) -> str:
    relative = os.path.relpath(file)
    return str(file) if relative.startswith("..") else relative.replace(os.sep, "/")
