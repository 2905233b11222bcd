"""The measured truth of packages, as field.py keeps it: one compressed file for each half.

A package belongs to `learn` or to `hold` by its name alone, so nothing that was measured can move it.
Whoever changes the analyzer may read what `learn` says; of `hold` only the numbers.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from measure_truth import ranges, relative

from breakscope.dynamic.observations.ownership import Places
from breakscope.dynamic.observations.reader import read_records, registry
from breakscope.dynamic.trace.processes import read_processes, torch_root

KEPT = Path(__file__).resolve().parent / "truth" / "field"
HALVES = ("learn", "hold")


def half_of(package: str) -> str:
    """By a hash of the package's name, as the package index writes it."""
    name = package.lower().replace("_", "-").replace(".", "-")
    return HALVES[hashlib.sha256(name.encode()).digest()[0] % 2]


def facts(traces: Path, site: Path, folders: tuple[str, ...]) -> dict[str, Any]:
    """Break sites below a package's own folders, and the lines of them that Dynamo traced. A break in another
    package is one of the line that leads there."""
    processes = read_processes(traces)
    places = Places.here(torch_root(processes))
    ids = registry(places.torch)
    lines: dict[str, set[int]] = {}
    sites: dict[tuple[str, int], tuple[str, str]] = {}
    for process in processes:
        seen = read_records(process.records, process.messages, places, ids)
        for path, numbers in seen.traced.items():
            lines.setdefault(relative(path, site), set()).update(numbers)
        for found in seen.breaks:
            ways = ((relative(f.path, site), f.line) for f in (found.site, *reversed(found.chain)))
            place = next((w for w in ways if w[0].partition("/")[0] in folders), None)
            if place is not None:
                sites.setdefault(place, (found.reason.gb_id, found.reason.type))
    own = sorted(file for file in lines if file.partition("/")[0] in folders)
    return {
        "breaks": [
            {"file": file, "line": line, "gb_id": gb_id, "gb_type": kind}
            for (file, line), (gb_id, kind) in sorted(sites.items())
        ],
        "traced": {file: ranges(lines[file]) for file in own},
    }


def together(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """What several runs of one package saw."""
    breaks = {(b["file"], b["line"]): b for part in parts for b in part["breaks"]}
    lines: dict[str, set[int]] = {}
    for part in parts:
        for file, spans in part["traced"].items():
            lines.setdefault(file, set()).update(n for a, b in spans for n in range(a, b + 1))
    return {
        "breaks": [breaks[place] for place in sorted(breaks)],
        "traced": {file: ranges(lines[file]) for file in sorted(lines)},
    }


def read(half: str) -> dict[str, Any]:
    """The packages of a half, by name, in the form that truth.py describes."""
    file = KEPT / f"{half}.json.gz"
    return json.loads(gzip.decompress(file.read_bytes())) if file.exists() else {"models": {}}


def write(half: str, data: Mapping[str, Any]) -> None:
    """The same bytes for the same truth."""
    KEPT.mkdir(parents=True, exist_ok=True)
    models = {name: data["models"][name] for name in sorted(data["models"])}
    text = json.dumps({**data, "models": models}, separators=(",", ":"))
    (KEPT / f"{half}.json.gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))
