"""Turns measurements into tables."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from breakscope.knowledge_build.results import unite

FAILS = "fails"  # stands in a list of breaks when Dynamo itself raises instead of breaking the graph
LOST = "lost"  # stands there when nothing of the function is compiled
MEASURED = ("calls", "contexts", "modules", "attributes", "statements")
SHAPE, VALUE = "GB0036", "GB0033"
# When an operator with mixed verdicts depends on data. Checked against the measured variants by the tests.
CONDITIONS = {
    "torch.where": "the condition is the only argument",
    "torch.repeat_interleave": "`repeats` is a tensor and `output_size` is not given",
    "Tensor.repeat_interleave": "`repeats` is a tensor and `output_size` is not given",
    "numpy.where": "the condition is the only argument",
    "numpy.repeat": "`repeats` is an array",
}
# Packages whose functions return the same kind of value whatever they are given.
RETURNING = frozenset({"torch", "Tensor", "numpy", "math", "cmath", "time", "os", "sys", "random", "str", "bytes", "int", "float",
                       "uuid", "platform", "socket", "hashlib", "logging", "warnings", "re", "datetime", "pathlib", "threading"})
# Results that neither a measurement nor a schema shows, each looked up in torch's documentation.
RETURNS = {
    "torch.max": "tensor | (tensor, int tensor)", "torch.min": "tensor | (tensor, int tensor)",
    "torch.compiler.is_compiling": "bool", "torch.jit.is_scripting": "bool", "Tensor.tolist": "list", "Tensor.item": "number",
    "torch.tensor": "tensor", "torch.from_numpy": "tensor", "torch.as_tensor": "tensor", "Tensor.size": "shape | int",
    "Tensor.stride": "tuple | int", "Tensor.type": "str | tensor", "Tensor.numpy": "ndarray",
}


def valid(results: Iterable[dict]) -> tuple[list[dict], list[str]]:
    """The results that count, and one line for each program that could not be measured."""
    found, problems = [], []
    for result in results:
        if "invalid" not in result and "crash" not in result:
            found.append(result)
        elif result["topic"] not in ("operators", "sweep"):
            problems.append(f"{result['topic']}: {result['source']}: {result.get('invalid') or 'killed its process'}")
    return found, problems


def measured(results: list[dict]) -> dict[str, dict]:
    """The tables of what was measured: by table, by name."""
    grouped = defaultdict(lambda: defaultdict(list))
    for result in results:
        if result["table"] == "ops":
            continue
        grouped[_table(result)][result["name"]].append(result)
    calls = grouped["calls"]
    for name, found in calls.items():  # what was merely swept counts only where no probe speaks
        calls[name] = [r for r in found if not r.get("swept")] or found
    return {table: {name: _entry(found) for name, found in sorted(grouped[table].items())} for table in MEASURED}


def operators(results: list[dict], tagged: dict[str, str], calls: dict[str, list]) -> dict[str, dict]:
    """Operator -> {} when it is traced, else what is data-dependent ("shape" or "value"), when, and the measured verdicts."""
    grouped = defaultdict(list)
    for result in results:
        if result["table"] == "ops":
            grouped[result["name"]] += result["variants"]
    found = {name: _operator(name, _entry(variants), tagged) for name, variants in grouped.items()}
    for name, entry in calls.items():
        if name in tagged or _firsts(entry) & {SHAPE, VALUE}:
            found[name] = _operator(name, entry, tagged)
    for name, tag in tagged.items():
        found.setdefault(name, {"depends": tag})
    return found


def _operator(name: str, entry: list, tagged: dict[str, str]) -> dict:
    firsts = _firsts(entry)
    tag = tagged.get(name) or ("shape" if SHAPE in firsts else "value" if VALUE in firsts else "")
    record = {"depends": tag} if tag else {}
    if name in CONDITIONS:
        record["when"] = CONDITIONS[name]
    return record | ({"measured": entry} if firsts or tag else {})


def returns(results: list[dict], schemas: dict[str, str], modules: dict[str, str]) -> dict[str, str]:
    """Name -> what a call of it returns (see `results`): measured, else from the schemas, else from the checked list."""
    words, swept = defaultdict(set), defaultdict(set)
    for result in results:
        if "returned" in result and result["table"] in ("ops", "calls") and _is_plain(result):
            (words if result["table"] == "ops" else swept)[result["name"]].update(result["returned"])
    found = modules | schemas
    found |= {name: _agree(unite(w, sure_of_dtype=False), found.get(name)) for name, w in swept.items()}
    found |= {name: _agree(unite(w | swept.get(name, set())), schemas.get(name)) for name, w in words.items()}
    return {name: word for name, word in (found | RETURNS).items() if word != "python" or name in swept}


def _is_plain(result: dict) -> bool:
    """False when what a call returns is up to a function or module that it was given."""
    given = {*result.get("arguments", ()), *result.get("keywords", {}).values()}
    name = result["name"]
    return name.partition(".")[0] in RETURNING and not given & {"function", "module"} and not name.startswith("torch.jit.")


def _agree(word: str, schema: str | None) -> str:
    """A schema knows more alternatives than a few measurements, and lists from tuples; a measurement knows dtypes."""
    if schema is None:
        return word
    if "[tensor]" in schema:
        return schema
    return word if " | " not in schema else schema


def _table(result: dict) -> str:
    if result["topic"] == "modules" and result["name"].endswith(".forward"):
        return "modules"
    if " " in result["name"] and result["table"] == "calls":  # no name that code could call
        return "statements"
    return result["table"]


def _breaks(result: dict) -> list[str]:
    found = list(result["breaks"])
    if result["error"]:
        return [*found, FAILS]
    return [*found, LOST] if result.get("lost") else found


def _entry(results: list[dict]) -> list:
    """A list of ids when every measurement agrees, else one record per measurement."""
    verdicts = {tuple(_breaks(r)) for r in results}
    if len(verdicts) == 1 and not results[0].get("description"):
        return list(verdicts.pop())
    records = []
    for result in results:
        record = {"code": result["source"], "breaks": _breaks(result)}
        if result["arguments"]:
            record["args"] = result["arguments"]
        if result["keywords"]:
            record["kwargs"] = result["keywords"]
        if result.get("description"):
            record["about"] = result["description"]
            del record["code"]
        if record not in records:
            records.append(record)
    return records


def _firsts(entry: list) -> set[str]:
    """The ids that a call's variants break with first."""
    if entry and isinstance(entry[0], dict):
        return {first for record in entry for first in _firsts(record["breaks"])}
    return {entry[0]} if entry else set()
