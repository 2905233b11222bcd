"""Turns measurements into tables."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pkgutil import resolve_name

from breakscope.knowledge.build.results import unite

# stands in a list of breaks when Dynamo itself raises instead of breaking the graph
FAILS = "fails"
LOST = "lost"  # stands there when nothing of the function is compiled
MEASURED = ("calls", "contexts", "modules", "attributes", "statements")
SHAPE, VALUE = "GB0036", "GB0033"
# ids of an exception that the call raised while Dynamo traced it
RAISED = {"GB0088", "GB4315", "GB0249"}
READS_NUMBER = {"GB0033", "GB0124"}  # ids of a tensor's value being read
# When an operator with mixed verdicts depends on data. Checked against the measured variants by the
# tests.
CONDITIONS = {
    "torch.where": "the condition is the only argument",
    "torch.repeat_interleave": "`repeats` is a tensor and `output_size` is not given",
    "Tensor.repeat_interleave": "`repeats` is a tensor and `output_size` is not given",
    "numpy.where": "the condition is the only argument",
    "numpy.repeat": "`repeats` is an array",
}
# Packages whose functions return the same kind of value whatever they are given.
RETURNING = frozenset(
    {
        "torch",
        "Tensor",
        "numpy",
        "math",
        "cmath",
        "time",
        "os",
        "sys",
        "random",
        "str",
        "bytes",
        "int",
        "float",
        "uuid",
        "platform",
        "socket",
        "hashlib",
        "logging",
        "warnings",
        "re",
        "datetime",
        "pathlib",
        "threading",
    }
)
# Results that neither a measurement nor a schema shows, each looked up in torch's documentation.
RETURNS = {
    "Tensor.__dlpack__": "python",
    "Tensor.has_names": "bool",
    "Tensor.register_hook": "python",
    "Tensor.storage": "python",
    "Tensor.untyped_storage": "python",
    "torch.max": "tensor | (tensor, int tensor)",
    "torch.min": "tensor | (tensor, int tensor)",
    "torch.compiler.is_compiling": "bool",
    "torch.jit.is_scripting": "bool",
    "Tensor.tolist": "list",
    "Tensor.item": "number",
    "torch.tensor": "tensor",
    "torch.from_numpy": "tensor",
    "torch.as_tensor": "tensor",
    "Tensor.size": "shape | int",
    "torch.nn.LSTM.forward": "(tensor, (tensor, tensor))",
    "torch.nn.GRU.forward": "(tensor, tensor)",
    "torch.nn.RNN.forward": "(tensor, tensor)",
    "torch.nn.LSTMCell.forward": "(tensor, tensor)",
    "torch.nn.MultiheadAttention.forward": "(tensor, tensor)",
    "Tensor.stride": "tuple | int",
    "Tensor.type": "str | tensor",
    "Tensor.numpy": "ndarray",
}


def valid(results: Iterable[dict]) -> tuple[list[dict], list[str]]:
    """The results that count, and one line for each program that could not be measured."""
    found, problems = [], []
    for result in results:
        if result.get("raises") and {*result.get("breaks", ())[:1]} <= RAISED:
            continue  # the exception is what Dynamo saw, not the call
        if "invalid" not in result and "crash" not in result:
            found.append(result)
        elif result["topic"] not in ("operators", "sweep"):
            problems.append(
                f"{result['topic']}: {result['source']}: {result.get('invalid') or 'killed its process'}"
            )
    return found, problems


def measured(results: list[dict], tagged: dict[str, str]) -> dict[str, dict]:
    """The tables of what was measured: by table, by name; `tagged` as for `operators`."""
    grouped, samples = defaultdict(lambda: defaultdict(list)), defaultdict(list)
    for result in results:
        if result["table"] == "ops":
            samples[result["name"]] += result["variants"]
        else:
            grouped[_table(result)][result["name"]].append(result)
    calls = grouped["calls"]
    for name, found in calls.items():  # what was merely swept counts only where no probe speaks
        calls[name] = ([r for r in found if not r.get("swept")] or found) + samples.get(name, [])
    return {
        table: {
            name: _entry(found, name in tagged) for name, found in sorted(grouped[table].items())
        }
        for table in MEASURED
    }


def operators(
    results: list[dict], tagged: dict[str, str], calls: dict[str, list]
) -> dict[str, dict]:
    """Operator -> {} when it is traced, else what depends on data ("shape" or "value"), when, and
    the verdicts."""
    grouped = defaultdict(list)
    for result in results:
        if result["table"] == "ops":
            grouped[result["name"]] += result["variants"]
    found = {
        name: _operator(name, _entry(variants, name in tagged), tagged)
        for name, variants in grouped.items()
    }
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


def returns(
    results: list[dict], schemas: dict[str, str], modules: dict[str, str]
) -> dict[str, str]:
    """Name -> what a call of it returns (see `results`): measured, from the schemas or from the
    checked list."""
    words, swept = defaultdict(set), defaultdict(set)
    for result in results:
        if "returned" in result and result["table"] in ("ops", "calls") and _is_plain(result):
            (words if result["table"] == "ops" else swept)[result["name"]].update(
                result["returned"]
            )
    found = modules | schemas
    found |= {
        name: _agree(unite(w, sure_of_dtype=False), found.get(name)) for name, w in swept.items()
    }
    found |= {
        name: _agree(unite(w | swept.get(name, set())), schemas.get(name))
        for name, w in words.items()
    }
    return found | RETURNS


def _is_plain(result: dict) -> bool:
    """False when what a call returns is up to a function or module that it was given."""
    given = {*result.get("arguments", ()), *result.get("keywords", {}).values()}
    name = result["name"]
    if (
        name.partition(".")[0] not in RETURNING
        or " " in name
        or given & {"function", "module"}
        or name.startswith("torch.jit.")
    ):
        return False
    return not {"python", "module"} & {*result["returned"]} or (
        name.startswith("torch.") and not _makes_objects(name)
    )


def _makes_objects(name: str) -> bool:
    """True for a class: what it makes is known by its name."""
    try:
        return isinstance(resolve_name(name), type)
    except (ImportError, AttributeError, ValueError):
        return True


def _agree(word: str, schema: str | None) -> str:
    """A schema knows more alternatives than a few measurements, and lists from tuples; a
    measurement knows dtypes."""
    if schema is None:
        return word
    if "[tensor]" in schema:
        return schema
    return word if " | " not in schema else schema


def _table(result: dict) -> str:
    if result["topic"] == "modules" and result["name"].endswith(".forward"):
        return "modules"
    if " " in result["name"].removesuffix(" =") and result["table"] in (
        "calls",
        "attributes",
    ):  # no name that code could call
        return "statements"
    return result["table"]


def _breaks(result: dict) -> list[str]:
    found = list(result["breaks"])
    if result["error"]:
        return [*found, FAILS]
    return [*found, LOST] if result.get("lost") else found


def _entry(results: list[dict], data_dependent: bool) -> list:
    """A list of ids when every measurement agrees and no argument's kind may be to blame (in an
    operator that is not data-dependent by itself), else one record per measurement."""
    verdicts = {tuple(_breaks(r)) for r in results}
    if (
        len(verdicts) == 1
        and not results[0].get("description")
        and (data_dependent or not any(map(_blames_arguments, results)))
    ):
        return list(verdicts.pop())
    records, seen = [], set()
    for result in results:
        record = {"code": result["source"], "breaks": _breaks(result)}
        key = (*record["breaks"], 0, *result["arguments"], 0, *sorted(result["keywords"].items()))
        if key in seen and result["arguments"]:  # the same kinds of arguments, the same verdict
            continue
        seen.add(key)
        if result["arguments"]:
            record["args"] = result["arguments"]
        if result["keywords"]:
            record["kwargs"] = result["keywords"]
        if result.get("description"):
            record["about"] = result["description"]
            del record["code"]
        records.append(record)
    return records


def _blames_arguments(result: dict) -> bool:
    """True when the break may come from a tensor that stands where a number belongs."""
    given = {*result["arguments"], *result["keywords"].values()}
    return bool({*result["breaks"][:1]} & READS_NUMBER) and any("tensor" in k for k in given)


def _firsts(entry: list) -> set[str]:
    """The ids that a call's variants break with first."""
    if entry and isinstance(entry[0], dict):
        return {first for record in entry for first in _firsts(record["breaks"])}
    return {entry[0]} if entry else set()
