"""Regenerate the tables of rules/knowledge/ from the installed torch.

Run `python -m breakscope.knowledge_build --out rules/knowledge/VERSION`; it takes about ten minutes on a quiet
machine, since some three thousand small programs are compiled. `--measurements FILE` keeps the raw results and goes on
where it stopped.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
from collections.abc import Iterator
from pathlib import Path

import torch

from breakscope.knowledge_build import from_torch, measure, tables


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m breakscope.knowledge_build", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder of the tables, named after the torch version")
    parser.add_argument(
        "--measurements", type=Path, help="JSON lines file of raw results, kept and reused topic by topic"
    )
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    results, problems = tables.valid(measurements(options.measurements))
    for name, entries in build(results).items():
        write(options.out, name, entries)
    for line in problems:
        print("not measured:", line.replace("\n", " "), file=sys.stderr)
    return 0


def build(results: list[dict]) -> dict[str, dict]:
    """Every table, by name."""
    tagged = from_torch.tagged()
    found = tables.measured(results, tagged)
    found["ops"] = tables.operators(results, tagged, found["calls"])
    found["returns"] = tables.returns(results, from_torch.schemas(), from_torch.modules())
    return found | {"registry": from_torch.registry(), "skips": from_torch.skips(), "classes": from_torch.classes()}


def measurements(kept: Path | None) -> Iterator[dict]:
    """The results of every topic; those that `kept` already holds in full are not measured again."""
    known = [json.loads(line) for line in kept.read_text().splitlines()] if kept and kept.exists() else []
    done = {result["done"] for result in known if "done" in result}
    for topic in measure.topics():
        rows = [r for r in known if r.get("topic") == topic] if topic in done else measure.measure(topic)
        for row in rows:
            if kept and topic not in done:
                with kept.open("a") as file:
                    file.write(json.dumps(row) + "\n")
            yield row
        if kept and topic not in done:
            with kept.open("a") as file:
                file.write(json.dumps({"done": topic}) + "\n")


def write(folder: Path, name: str, entries: dict) -> None:
    """One table, one entry a line, sorted; the header names torch and Python."""
    header = {"torch": torch.__version__.partition("+")[0], "python": platform.python_version()}
    lines = [
        f" {json.dumps(key)}: {json.dumps(value, separators=(', ', ': '))}" for key, value in sorted(entries.items())
    ]
    text = "{" + json.dumps(header)[1:-1] + ',\n"entries": {\n' + ",\n".join(lines) + "\n}}\n"
    json.loads(text)
    (folder / f"{name}.json").write_text(text)


if __name__ == "__main__":
    sys.exit(main())
