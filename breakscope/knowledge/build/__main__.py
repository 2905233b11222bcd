"""Make the tables of rules/knowledge/ for one torch version.

From the installed torch, by compiling some three thousand small programs (about ten minutes on a
quiet machine; `--measurements FILE` keeps the raw results and goes on where it stopped):

    python -m breakscope.knowledge.build --out rules/knowledge/2.13.0 --measurements 2.13.0.jsonl

Of a version that is not installed, from its wheel's own files without importing them, as
differences from a version that was measured; any platform's wheel, or a folder that one was
unpacked into:

    python -m breakscope.knowledge.build --wheel torch-2.11.0-....whl --out rules/knowledge/2.11.0

With `--measurements` of the same probes under both versions (`BASE.jsonl` first), what was measured
goes into the differences too; without, measured differences that stand in the folder stay.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
from collections.abc import Iterator
from pathlib import Path

from breakscope import knowledge
from breakscope.knowledge.build import differences
from breakscope.knowledge.build.from_wheel import Wheel, WheelError


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m breakscope.knowledge.build",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--out",
        type=Path,
        required=True,
        help="folder of the tables, named after the torch version",
    )
    parser.add_argument(
        "--wheel", type=Path, help="a torch wheel, or a folder that one was unpacked into"
    )
    parser.add_argument(
        "--base", default="2.13.0", help="the version that a wheel's differ from [2.13.0]"
    )
    parser.add_argument(
        "--measurements", type=Path, nargs="+", default=[], help="JSON lines files of raw results"
    )
    parser.add_argument(
        "--only-shapes",
        action="store_true",
        help="write the table `shapes` alone, by the table `returns` that is in the folder; compiles nothing",
    )
    parser.add_argument(
        "--only-numbers", action="store_true", help="write the table `numbers` alone (two minutes)"
    )
    options = parser.parse_args()
    if len(options.measurements) != (2 if options.wheel else 1) and options.measurements:
        parser.error(
            "give one file of measurements, or with --wheel two: of the base and of the wheel's version"
        )
    try:
        if options.only_shapes:
            return _shapes(options)
        if options.only_numbers:
            return _numbers(options)
        return _from_wheel(options) if options.wheel else _from_installed(options)
    except WheelError as problem:
        parser.error(str(problem))


def _from_wheel(options: argparse.Namespace) -> int:
    wheel = Wheel(options.wheel)
    found = differences.from_wheel(wheel, knowledge.load(options.base))
    if options.measurements:
        from breakscope.knowledge.build import from_torch

        found |= differences.from_measurements(
            *map(_results, options.measurements), from_torch.tagged()
        )
    differences.write(options.out, wheel.version(), options.base, found)
    for name, table in found.items():
        counts = [f"{len(table[word])} {word}" for word in ("changed", "removed") if word in table]
        print(f"{name}: {', '.join(counts) or 'as in ' + options.base}")
    return 0


def _from_installed(options: argparse.Namespace) -> int:
    from breakscope.knowledge.build import tables

    options.out.mkdir(parents=True, exist_ok=True)
    results, problems = tables.valid(
        measurements(options.measurements[0] if options.measurements else None)
    )
    for name, entries in build(results).items():
        write(options.out, name, entries)
    for line in problems:
        print("not measured:", line.replace("\n", " "), file=sys.stderr)
    return 0


def _shapes(options: argparse.Namespace) -> int:
    from breakscope.knowledge.build import shapes

    write(options.out, "shapes", shapes.table(knowledge.Knowledge(options.out).results))
    return 0


def _numbers(options: argparse.Namespace) -> int:
    from breakscope.knowledge.build import numbers

    write(options.out, "numbers", numbers.table())
    return 0


def _results(file: Path) -> list[dict]:
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return [row for row in rows if "topic" in row]


def build(results: list[dict]) -> dict[str, dict]:
    """Every table, by name."""
    from breakscope.knowledge.build import from_torch, numbers, shapes, tables

    tagged = from_torch.tagged()
    found = tables.measured(results, tagged)
    found["ops"] = tables.operators(results, tagged, found["calls"])
    found["returns"] = tables.returns(results, from_torch.schemas(), from_torch.modules())
    return found | {
        "shapes": shapes.table(found["returns"]),
        "numbers": numbers.table(),
        "registry": from_torch.registry(),
        "skips": from_torch.skips(),
        "classes": from_torch.classes(),
    }


def measurements(kept: Path | None) -> Iterator[dict]:
    """The results of every topic; those that `kept` already holds in full are not measured again."""
    from breakscope.knowledge.build import measure

    known = (
        [json.loads(line) for line in kept.read_text().splitlines()]
        if kept and kept.exists()
        else []
    )
    done = {result["done"] for result in known if "done" in result}
    for topic in measure.topics():
        rows = (
            [r for r in known if r.get("topic") == topic]
            if topic in done
            else measure.measure(topic)
        )
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
    import torch

    header = {"torch": torch.__version__.partition("+")[0], "python": platform.python_version()}
    lines = [
        f" {json.dumps(key)}: {json.dumps(value, separators=(', ', ': '))}"
        for key, value in sorted(entries.items())
    ]
    text = "{" + json.dumps(header)[1:-1] + ',\n"entries": {\n' + ",\n".join(lines) + "\n}}\n"
    json.loads(text)
    (folder / f"{name}.json").write_text(text)


if __name__ == "__main__":
    sys.exit(main())
