"""Settings from `[tool.breakscope]` of the nearest pyproject.toml at or above the working
directory, or from a file that the command line names.

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
    baseline = "breakscope-baseline.json"
    max-breaks = 0                      # budgets of run, trace, report and diff; none when absent
    max-recompiles-after = 3            # as the option: 3, "3:1", "60s"
    min-coverage = 95                   # percent

Globs, files and folders are relative to the folder of the file. The command line wins over the
file.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from msgspec import Struct

from breakscope.errors import UserError
from breakscope.reading import NotThere, Unreadable, read_file
from breakscope.report.comparing.budget import Allowed, read_after, read_percent
from breakscope.texts import missing_file, nearest

LISTS = ("select", "extend-select", "ignore", "exclude", "entry", "rules")
STRINGS = ("torch", "format", "baseline")
SWITCHES = ("libraries", "cache")
TABLES = ("per-file-ignores",)
BUDGETS = ("max-breaks", "max-recompiles-after", "min-coverage")
KEYS = (*LISTS, *STRINGS, *SWITCHES, *TABLES, *BUDGETS)


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
    baseline: str = ""  # a file, as seen from the working directory
    root: str = ""  # the folder of the file
    allowed: Allowed = Allowed()


def load_config(start: str | os.PathLike[str] = "", file: str = "") -> Config:
    """The settings that hold for the working directory (or for `start`), or those of a TOML file;
    raises UserError when they are wrong."""
    if file:
        return _named(file)
    try:
        folder = os.path.realpath(start or os.getcwd())
    except FileNotFoundError:
        raise UserError("the working directory does not exist any more") from None
    for candidate in _with_parents(folder):
        file = os.path.join(candidate, "pyproject.toml")
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


def _with_parents(folder: str) -> Iterator[str]:
    """The folder, and those around it from the innermost."""
    yield folder
    while (parent := os.path.dirname(folder)) != folder:
        yield (folder := parent)


def _named(file: str) -> Config:
    """The settings of a file: its `[tool.breakscope]`, or of one that is no pyproject.toml the
    keys at its top."""
    try:
        data = read_file(file)
    except NotThere:
        raise UserError(f"--config: {missing_file(file)}") from None
    except Unreadable as problem:
        raise UserError(f"--config: {file} {problem}") from None
    settings = _section(data, file)
    if settings is None:
        if os.path.basename(file) == "pyproject.toml":
            raise UserError(f"--config: {file} has no [tool.breakscope]")
        settings = _document(data, file)
    return _read(settings, os.path.abspath(file))


def _document(data: bytes, shown: str) -> dict:
    import tomllib

    try:
        return tomllib.loads(data.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise UserError(f"{shown}: not valid TOML: {problem}") from None


def _section(data: bytes, shown: str) -> dict | None:
    tool = _document(data, shown).get("tool", {})
    section = tool.get("breakscope") if isinstance(tool, dict) else None
    if section is not None and not isinstance(section, dict):
        raise UserError(f"{shown}: [tool.breakscope] must be a table")
    return section


def _read(settings: dict, file: str) -> Config:
    shown, folder = _shown(file), os.path.dirname(file)
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
    values["rules"] = tuple(
        os.path.normpath(os.path.join(folder, name)) for name in values.get("rules", ())
    )
    values["entry"] = tuple(_from_here(entry, folder) for entry in values.get("entry", ()))
    if values.get("baseline"):
        values["baseline"] = _shown(os.path.join(folder, values["baseline"]))
    table = settings.get("per-file-ignores", {})
    if not isinstance(table, dict):
        raise UserError(
            f'{shown}: per-file-ignores must be a table such as {{ "tests/*" = ["BRK4"] }}'
        )
    ignores = tuple(
        (glob, _strings(codes, f"per-file-ignores.{glob!r}", shown))
        for glob, codes in table.items()
    )
    values["allowed"] = _allowed(settings, shown)
    return Config(path=shown, root=folder, per_file_ignores=ignores, **values)


def _allowed(settings: dict, shown: str) -> Allowed:
    """The budgets: numbers, or the texts that the options of the same names take."""
    breaks = settings.get("max-breaks")
    if breaks is not None and (
        isinstance(breaks, bool) or not isinstance(breaks, int) or breaks < 0
    ):
        raise UserError(f"{shown}: max-breaks must be a whole number from 0 on, not {breaks!r}")
    read = {}
    for key, reader in (("max-recompiles-after", read_after), ("min-coverage", read_percent)):
        value = settings.get(key)
        if isinstance(value, bool) or not isinstance(value, int | float | str | None):
            raise UserError(f"{shown}: {key} must be a number or a string, not {value!r}")
        try:
            read[key] = None if value is None else reader(str(value))
        except ValueError as problem:
            raise UserError(f"{shown}: {key}: {problem}") from None
    return Allowed(
        breaks=breaks, recompiles=read["max-recompiles-after"], coverage=read["min-coverage"]
    )


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
    near = nearest(key.replace("_", "-"), KEYS)
    return f"did you mean {near[0]!r}?" if near else f"the keys are {', '.join(KEYS)}"


def _from_here(entry: str, folder: str) -> str:
    """An entry whose file is named relative to `folder`, as seen from the working directory; globs
    stay as they are."""
    file, separator, name = entry.rpartition("::")
    if not separator or any(c in file for c in "*?["):
        return entry
    return f"{_shown(os.path.join(folder, file))}::{name}"


def _shown(file: str) -> str:
    relative = os.path.relpath(file)
    return file if relative.startswith("..") else relative.replace(os.sep, "/")
