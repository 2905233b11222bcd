"""`python -m breakscope.knowledge_build --out FOLDER [TABLE ...]`: regenerate the tables from the installed torch."""

from __future__ import annotations

import argparse
import json
import platform
import sys
from pathlib import Path

import torch

from breakscope.knowledge_build import measure, tables

MEASURED = ("calls", "contexts", "modules", "attributes", "statements")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m breakscope.knowledge_build", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder of the tables, named after the torch version")
    parser.add_argument("tables", nargs="*", help="only these tables")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    wanted = set(options.tables)
    if not wanted or wanted & set(MEASURED):
        found, problems = tables.assemble(r for topic in measure.topics() for r in measure.measure(topic))
        for name in MEASURED:
            if not wanted or name in wanted:
                write(options.out, name, found.get(name, {}))
        for line in problems:
            print("not measured:", line.replace("\n", " "), file=sys.stderr)
    for name, build in generated().items():
        if not wanted or name in wanted:
            write(options.out, name, build())
    return 0


def generated() -> dict:
    """The tables that are read out of torch, by name."""
    from breakscope.knowledge_build import from_torch

    return {"registry": from_torch.registry}


def write(folder: Path, name: str, entries: dict) -> None:
    """One table, one entry a line, sorted; the header names torch and Python."""
    header = {"torch": torch.__version__.partition("+")[0], "python": platform.python_version()}
    lines = [f" {json.dumps(key)}: {json.dumps(value, separators=(', ', ': '))}" for key, value in sorted(entries.items())]
    text = "{" + json.dumps(header)[1:-1] + ',\n"entries": {\n' + ",\n".join(lines) + "\n}}\n"
    json.loads(text)
    (folder / f"{name}.json").write_text(text)


if __name__ == "__main__":
    sys.exit(main())
