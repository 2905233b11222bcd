"""What Dynamo was measured to do with a folder of programs or with installed libraries, as
accuracy.py judges by it.

A folder of programs: TRUTH.json maps a program's name (`NAME.py` in the folder) to
    files       every file of the program, relative to the folder
    breaks      [{"file", "line", "gb_id", "gb_type"}]
    executed    {file: [lines]}, and executed_backward alike: what the measured run executed
    verdict     "clean", "break", "recompile", ...
    recompiles  [{"reason"}]
MATRIX.json maps the same names to {torch version: {"breaks": [[file, line, gb_id]], "verdict"}}.

Libraries: TRUTH.json holds `meta` {"torch"} and `models` {name: model}; a model has
    library, version   what it is of
    status      "ok" when it was measured
    breaks      as above, files relative to the folder that holds the libraries
    traced      {file: [[first, last] or line]}: the lines that Dynamo traced (else `executed`)
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Cause:
    """Why Dynamo broke the graph: the id ("" before torch 2.7, which has none) and the words of its
    registry."""

    gb_id: str
    words: str


@dataclass
class Truth:
    """Measured behaviour. Files are relative to `root`; `recompiling` and `clean` map programs to
    their files."""

    root: Path
    what: str
    torch: str
    sites: dict[str, dict[int, Cause]] = field(default_factory=dict)
    ran: dict[str, set[int]] = field(default_factory=dict)
    recompiling: dict[str, tuple[str, ...]] = field(default_factory=dict)
    clean: dict[str, tuple[str, ...]] = field(default_factory=dict)
    absent: tuple[str, ...] = ()  # files with measured sites that are not there to be read

    @property
    def files(self) -> list[str]:
        return sorted({*self.sites, *self.ran})

    def add_site(self, file: str, line: int, gb_id: str | None, words: str = "") -> None:
        self.sites.setdefault(file, {}).setdefault(line, Cause(gb_id or "", words))

    def add_lines(self, lines: dict[str, list] | None) -> None:
        for file, numbers in (lines or {}).items():
            self.ran.setdefault(file, set()).update(_numbers(numbers))


def read_programs(folder: Path, truth: Path, matrix: Path | None = None, torch: str = "") -> Truth:
    """The truth of a folder of programs, with a matrix that of one torch version; KeyError when it
    has no such version."""
    cases = {name: case for name, case in _read(truth).items() if (folder / f"{name}.py").is_file()}
    versions = _read(matrix) if matrix else {}
    words = {
        b["gb_id"]: b["gb_type"]
        for case in cases.values()
        for b in case["breaks"]
        if b.get("gb_id")
    }
    found = Truth(folder.resolve(), f"{len(cases)} small programs", torch)
    for name, case in cases.items():
        row = versions[name][torch] if matrix else case
        for file in case["files"]:
            found.ran.setdefault(file, set())
        for at in row["breaks"]:
            file, line, gb_id = at if matrix else (at["file"], at["line"], at.get("gb_id"))
            found.add_site(file, line, gb_id, words.get(gb_id, ""))
        found.add_lines(case["executed"])
        found.add_lines(case.get("executed_backward"))
        files = tuple(case["files"])
        if row["verdict"] == "recompile":
            found.recompiling[name] = files
        elif row["verdict"] == "clean":
            found.clean[name] = files
    return found


def read_libraries(folder: Path, truth: Path) -> Truth:
    """The truth of the libraries below a folder; torch itself is not judged."""
    data = _read(truth)
    models = [model for model in data["models"].values() if model["status"] == "ok"]
    libraries = sorted({(model["library"], model["version"]) for model in models})
    shown = (
        f"{len(libraries)} libraries"
        if len(libraries) > 2
        else " and ".join(map(" ".join, libraries))
    )
    found = Truth(
        folder.resolve(),
        f"{len(models)} models of {shown}",
        data["meta"]["torch"].partition("+")[0],
    )
    for model in models:
        for at in model["breaks"]:
            found.add_site(at["file"], at["line"], at.get("gb_id"), at["gb_type"])
        found.add_lines(model.get("traced") or model["executed"])
    judged = {
        name for name in found.files if (folder / name).exists() and not name.startswith("torch/")
    }
    found.absent = tuple(
        sorted(name for name in found.sites if name not in judged and not name.startswith("torch/"))
    )
    found.sites = {name: at for name, at in found.sites.items() if name in judged}
    found.ran = {name: lines for name, lines in found.ran.items() if name in judged}
    return found


def _read(file: Path) -> dict:
    return json.loads(file.read_text(encoding="utf-8"))


def _numbers(numbers: list) -> Iterable[int]:
    """Lines, from numbers and [first, last] pairs."""
    for item in numbers:
        yield from range(item[0], item[1] + 1) if isinstance(item, list) else (item,)
