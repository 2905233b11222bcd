"""Turns measurements into the tables `calls`, `contexts`, `modules` and `statements`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

FAILS = "fails"  # stands in a list of breaks when Dynamo itself raises instead of breaking the graph


def assemble(results: Iterable[dict]) -> tuple[dict[str, dict], list[str]]:
    """The tables, and one line for each snippet that could not be measured."""
    grouped = defaultdict(lambda: defaultdict(list))
    problems = []
    for result in results:
        if "invalid" in result or "crash" in result:
            problems.append(f"{result['topic']}: {result['source']}: {result.get('invalid') or 'killed its process'}")
            continue
        grouped[_table(result)][result["name"]].append(result)
    return {table: {name: _entry(found) for name, found in sorted(names.items())} for table, names in grouped.items()}, problems


def _table(result: dict) -> str:
    if result["topic"] == "modules" and (result["name"].endswith(".forward") or result["name"].endswith(" module")):
        return "modules"
    return result["table"]


def breaks(result: dict) -> list[str]:
    """The ids of one measurement; "fails" when Dynamo raised."""
    found = list(result["breaks"])
    silent = not found and not result["graphs"]
    return found + [FAILS] if result["error"] or silent else found


def lost(result: dict) -> bool:
    """True when a break left nothing compiled, although the statement stands in no loop, try or with."""
    return bool(result["breaks"]) and not result["graphs"] and not result["error"]


def _entry(results: list[dict]) -> list:
    """A list of ids when every measurement agrees, else one record per measurement."""
    verdicts = {(tuple(breaks(r)), lost(r)) for r in results}
    if len(verdicts) == 1 and not results[0].get("description"):
        ids, gone = verdicts.pop()
        return [*ids, "lost"] if gone else list(ids)
    records = []
    for result in results:
        record = {"code": result["source"], "breaks": breaks(result)}
        if lost(result):
            record["breaks"].append("lost")
        if result["arguments"]:
            record["args"] = result["arguments"]
        if result["keywords"]:
            record["kwargs"] = result["keywords"]
        if result.get("description"):
            record["about"] = result["description"]
        records.append(record)
    return records
