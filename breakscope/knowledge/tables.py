"""The generated tables of one torch version."""

from __future__ import annotations

import os
from functools import cached_property, lru_cache

from msgspec import json

from breakscope.knowledge.measured import CallFact, fact_of, first_of, is_traced
from breakscope.knowledge.shapes import Shape
from breakscope.knowledge.versions import DIFFERENCES, numbers_of, shipped, target_version
from breakscope.rulekit.loader import rules_folder


class Knowledge:
    """The tables of one torch version. Every table is read once, when it is first needed.

    A version's folder holds one file per table, or `differences.json`: what differs from the tables
    of another.
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.version = os.path.basename(folder)

    @cached_property
    def _differences(self) -> dict:
        return self._read(DIFFERENCES)

    def _table(self, name: str) -> dict:
        if base := self._differences.get("base"):
            return differing(
                Knowledge(os.path.join(os.path.dirname(self.folder), base))._table(name),
                self._differences["tables"].get(name, {}),
            )
        return self._read(f"{name}.json").get("entries", {})

    def _read(self, name: str) -> dict:
        path = os.path.join(self.folder, name)
        if not os.path.isfile(path):
            return {}
        with open(path, "rb") as file:
            return json.decode(file.read())

    calls = cached_property(lambda self: self._table("calls"))
    contexts = cached_property(lambda self: self._table("contexts"))
    modules = cached_property(lambda self: self._table("modules"))
    attributes = cached_property(lambda self: self._table("attributes"))
    statements = cached_property(lambda self: self._table("statements"))
    classes = cached_property(lambda self: self._table("classes"))
    ops = cached_property(lambda self: self._table("ops"))
    results = cached_property(lambda self: self._table("returns"))
    shapes = cached_property(lambda self: self._table("shapes"))
    numbers = cached_property(lambda self: self._table("numbers"))
    skips = cached_property(lambda self: self._table("skips"))
    registry = cached_property(lambda self: self._table("registry"))

    @cached_property
    def changed_calls(self) -> frozenset[str]:
        """The names whose calls another version, that the rules were written by, treats otherwise."""
        tables = self._differences.get("tables", {})
        return frozenset(
            name
            for table in ("calls", "modules")
            for name in tables.get(table, {}).get("changed", ())
        )

    def call(self, name: str) -> CallFact | None:
        """What was measured of calls of `name`, or of the same method of a base class; None when
        nothing was.

        `name` is a function, a method ("logging.Logger.info") or a module's forward
        ("torch.nn.LSTM.forward").
        """
        for candidate in (name, *self._inherited(name)):
            for table in (self.calls, self.modules):
                if (entry := table.get(candidate)) is not None:
                    return fact_of(candidate, entry)
            if (operator := self.ops.get(candidate)) is not None:
                return fact_of(candidate, operator.get("measured", []))
        return None

    def context(self, name: str) -> CallFact | None:
        """What was measured of `with name(...)`."""
        entry = self.contexts.get(name)
        return None if entry is None else fact_of(name, entry)

    def attribute(self, name: str) -> CallFact | None:
        """What was measured of reading an attribute ("Tensor.grad_fn") or of setting it
        ("Tensor.requires_grad =")."""
        entry = self.attributes.get(name)
        return None if entry is None else fact_of(name, entry)

    def op(self, name: str) -> dict | None:
        """What is known of an operator ("torch.nonzero", "Tensor.nonzero"): {} when Dynamo traces
        it, "depends" is "shape" when the shape of its result depends on data and "value" when
        Python must read data, "when" says on what condition, "measured" what Dynamo did. None for a
        name that is no operator."""
        return self.ops.get(name)

    def returns(self, name: str) -> str | None:
        """What a call returns: "tensor", "bool tensor", "int tensor", "(tensor, int tensor)",
        "[tensor]" (any number), "int", "bool", "float", "str", "none", "shape", "dtype", "device",
        "module", "ndarray", "python" (another object); alternatives are joined by " | ". None when
        not known."""
        return self.results.get(name)

    def shape(self, name: str, form: str = "") -> Shape | None:
        """What the tensors look like that a call of a function, method or layer
        ("torch.nn.Linear") returns, written in this form (see `Shape.of`); None when not known."""
        return Shape.of(self.shapes.get(name), form)

    def names(
        self, *ids: str, table: str = "calls", prefix: str = "", always: bool = True
    ) -> frozenset[str]:
        """The names under `prefix` whose call breaks with one of `ids` first (any id when none is
        given)."""
        found, wanted = set(), frozenset(ids)
        for name, entry in getattr(self, table).items():
            if not entry or not name.startswith(prefix):
                continue
            rows = [variant["breaks"] for variant in entry] if type(entry[0]) is dict else [entry]
            firsts = list(filter(None, map(first_of, rows)))
            if (not wanted.isdisjoint(firsts) if ids else firsts) and not (
                always and any(map(is_traced, rows))
            ):
                found.add(name)
        return frozenset(found)

    def module_skipped(self, name: str) -> bool | None:
        """True when Dynamo does not trace functions of this dotted module, False when torch names
        it as traced, None when torch's rules do not mention it (then its functions are traced)."""
        parts = name.split(".")
        said = {self.skips.get(".".join(parts[:length])) for length in range(1, len(parts) + 1)} - {
            None
        }
        return None if not said else "trace" not in said

    def _inherited(self, name: str) -> list[str]:
        owner, _, method = name.rpartition(".")
        return [f"{base}.{method}" for base in self.classes.get(owner, ())]


def differing(base: dict, difference: dict) -> dict:
    """A table of another version: the base's entries without `removed` ("*": none of them), with
    `changed`."""
    removed = set(difference.get("removed", ()))
    kept = (
        {}
        if "*" in removed
        else {name: entry for name, entry in base.items() if name not in removed}
    )
    return kept | difference.get("changed", {})


def load(version: str | None = None) -> Knowledge:
    """The tables of the newest shipped version that is not newer than `version` (default:
    `target_version()`; a patch level does not count), else of the oldest. Raises ValueError when
    `version` is no version."""
    return _load(version or target_version())


@lru_cache(maxsize=4)
def _load(version: str) -> Knowledge:
    wanted = numbers_of(version)[:2]
    versions = shipped()
    fitting = [v for v in versions if numbers_of(v)[:2] <= wanted] or versions[:1]
    return Knowledge(os.path.join(rules_folder(), "knowledge", fitting[-1]))
