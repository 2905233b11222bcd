"""One version's tables as what differs from another's."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from breakscope.knowledge import DIFFERENCES, Knowledge
from breakscope.knowledge.build.from_wheel import Wheel

UNNAMED = "unnamed"  # stands for the id of a break that torch gave none
READ = ("registry", "skips")  # tables that a wheel's files settle


def difference(base: dict, own: dict) -> dict:
    """What makes `own` of `base`, in the words of `breakscope.knowledge.differing`; {} when they
    are alike."""
    removed = sorted(base.keys() - own.keys())
    changed = {name: own[name] for name in sorted(own) if base.get(name) != own[name]}
    if removed and len(removed) == len(base):
        removed = ["*"]
    return {key: value for key, value in (("removed", removed), ("changed", changed)) if value}


def from_wheel(wheel: Wheel, base: Knowledge) -> dict[str, dict]:
    """The differences that the wheel's own files show, by table."""
    found = {name: difference(getattr(base, name), getattr(wheel, name)()) for name in READ}
    untagged = {
        name: {"depends": tag}
        for name, tag in wheel.tagged().items()
        if name in base.results and not base.ops.get(name, {}).get("depends")
    }
    return found | {"ops": {"changed": untagged} if untagged else {}}


def from_measurements(
    of_base: Iterable[dict], of_version: Iterable[dict], tagged: dict[str, str]
) -> dict[str, dict]:
    """The differences between two sets of results of the same probes, by table; a program that
    could not be measured with one of the versions makes none."""
    from breakscope.knowledge.build import tables  # needs torch, which reading a wheel does not

    older, _ = tables.valid(of_base)
    newer = {(r["topic"], r["source"]): r for r in tables.valid(of_version)[0]}
    every = [_comparable(newer.get((r["topic"], r["source"]), r), r) for r in older]
    changed = {
        r["name"] for r in older if _verdict(newer.get((r["topic"], r["source"]), r)) != _verdict(r)
    }
    fitting = [r for r in every if (r["topic"], r["source"]) in newer or r["name"] not in changed]
    before, after = tables.measured(older, tagged), tables.measured(fitting, tagged)
    before["ops"] = tables.operators(older, tagged, before["calls"])
    after["ops"] = tables.operators(every, tagged, tables.measured(every, tagged)["calls"])
    return {name: difference(before[name], after[name]) for name in before}


def _comparable(result: dict, base: dict) -> dict:
    """The verdict of one version under the name and the kinds of arguments that the base's has.

    Torch before 2.10 does not put an id to every break, and 2.6 to none: such a break gets the
    base's ids.
    """
    found = result | {
        key: base[key] for key in ("table", "name", "arguments", "keywords") if key in base
    }
    if result.get("reason") and not result.get("breaks") and not result.get("error"):
        found["breaks"] = base.get("breaks") or [UNNAMED]
    return found


def _verdict(result: dict) -> tuple:
    return (*result.get("breaks", ()), bool(result.get("lost")), bool(result.get("error")))


def write(folder: Path, version: str, base: str, found: dict[str, dict]) -> None:
    """Write `differences.json`, one entry a line; what `found` does not speak of is kept from the
    file that is there."""
    path = folder / DIFFERENCES
    kept = json.loads(path.read_text(encoding="utf-8"))["tables"] if path.is_file() else {}
    wanted = {name: table for name, table in sorted((kept | found).items()) if table}
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(
        f'{{"torch": {json.dumps(version)}, "base": {json.dumps(base)}, "tables": {{\n'
        + ",\n".join(f" {json.dumps(name)}: {_table(table)}" for name, table in wanted.items())
        + "\n}}\n",
        encoding="utf-8",
    )


def _table(table: dict) -> str:
    parts = []
    if "removed" in table:
        parts.append(f'"removed": {json.dumps(table["removed"])}')
    if "changed" in table:
        entries = (
            f"  {json.dumps(name)}: {json.dumps(entry)}" for name, entry in table["changed"].items()
        )
        parts.append('"changed": {\n' + ",\n".join(entries) + "\n }")
    return "{" + ",\n  ".join(parts) + "}"
