"""What torch itself says, and what was measured under Dynamo, for one torch version.

    facts = load("2.13.0")
    facts.call("time.time").breaks            # ("GB0007",)
    facts.call("int").judge(("0d float tensor",)).breaks
    facts.returns("Tensor.dim")               # "int"

The tables lie in `rules/knowledge/<torch version>/`, one JSON file per topic, read when first asked
for; they are made by `python -m breakscope.knowledge.build`. Reading them never imports torch.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property, lru_cache
from pathlib import Path

from msgspec import Struct, json

from breakscope.environment import import_folders
from breakscope.knowledge.shapes import Shape
from breakscope.rulekit.loader import rules_folder
from breakscope.rulekit.values import Const, Dict, Function, Sequence, Tensor, Value

NOT_IDS = ("lost", "fails")
DIFFERENCES = "differences.json"
VERSION = r"\d+(?:\.\d+)*"
METADATA = (".dist-info", ".egg-info")

_judged_by: ContextVar[str | None] = ContextVar("the torch version that is judged by", default=None)


class Measured(Struct, frozen=True):
    """One measured variant of a call: its source, the kinds of its arguments and what Dynamo did.

    `breaks` are ids in order of appearance, the first that of the call itself. `lost`: nothing of
    the function was compiled. `fails`: Dynamo raised an exception instead of breaking the graph.
    """

    code: str
    args: tuple[str, ...]
    kwargs: tuple[tuple[str, str], ...]
    breaks: tuple[str, ...]
    lost: bool = False
    fails: bool = False

    @property
    def is_trouble(self) -> bool:
        return bool(self.breaks) or self.fails


class Verdict(Struct, frozen=True):
    """What is known of one call: the ids it breaks with (empty: it is traced) and whether every
    variant that fits agrees."""

    breaks: tuple[str, ...]
    certain: bool
    lost: bool = False
    fails: bool = False


class CallFact(Struct, frozen=True):
    """All that was measured of calls (or entries, or reads) of one name."""

    name: str
    variants: tuple[Measured, ...]

    @property
    def breaks(self) -> tuple[str, ...]:
        """Every id that some variant showed."""
        return tuple(dict.fromkeys(i for v in self.variants for i in v.breaks))

    @property
    def firsts(self) -> tuple[str, ...]:
        """The ids of the call itself, without those of what it leads to."""
        return tuple(dict.fromkeys(v.breaks[0] for v in self.variants if v.breaks))

    @property
    def always(self) -> bool:
        """True when every variant broke."""
        return all(v.is_trouble for v in self.variants)

    @property
    def never(self) -> bool:
        return not any(v.is_trouble for v in self.variants)

    @property
    def lost(self) -> bool:
        return any(v.lost for v in self.variants)

    @property
    def fails(self) -> bool:
        return any(v.fails for v in self.variants)

    def judge(self, args: tuple[str, ...] = (), kwargs: dict[str, str] | None = None) -> Verdict:
        """The verdict for arguments of these kinds (see `kind`); without a fitting variant, that of
        all of them together, which is never certain."""
        fitting = [v for v in self.variants if _fits(v, args, kwargs or {})]
        alike = [
            v for v in self.variants if not _contradicts(v, args, kwargs or {})
        ] or self.variants
        chosen = fitting or [v for v in alike if not self._breaks_by_a_keyword(v, kwargs or {})]
        agreed = len({v.is_trouble for v in chosen}) == 1
        ids = tuple(dict.fromkeys(i for v in chosen for i in v.breaks))
        return Verdict(
            ids, agreed and bool(fitting), any(v.lost for v in chosen), any(v.fails for v in chosen)
        )

    def _breaks_by_a_keyword(self, measured: Measured, kwargs: dict[str, str]) -> bool:
        """True for a call that broke and, without a keyword that is not given now, did not:
        `torch.rand(3, generator=g)`."""
        given = {name for name, _ in measured.kwargs}
        missing = given - kwargs.keys()
        return (
            measured.is_trouble
            and bool(missing)
            and any(
                not v.is_trouble and {name for name, _ in v.kwargs} <= given - missing
                for v in self.variants
            )
        )


def kind(value: Value) -> str:
    """The word for an argument in the tables: "0d float tensor", "int", "list of int", "none"; "?"
    when not known."""
    if isinstance(value, Tensor):
        if value.kind == "numpy":
            return "ndarray"
        rank = "0d " if value.ndim == 0 else "" if value.ndim is None else "nd "
        return f"{rank}{value.dtype or '?'} tensor"
    if isinstance(value, Const):
        return "none" if value.value is None else type(value.value).__name__
    if isinstance(value, Sequence):
        inside = {kind(v) for v in value.items} if value.items else {kind(value.element)}
        return f"{value.type} of {inside.pop()}" if len(inside) == 1 else value.type
    if isinstance(value, Dict):
        return "dict"
    if isinstance(value, Function):
        return "function"
    if value.is_scalar or value.is_shape:
        return "int"
    return getattr(value, "type", "?") or "?"


def _fits(measured: Measured, args: tuple[str, ...], kwargs: dict[str, str]) -> bool:
    if not measured.code:
        return True
    if len(measured.args) != len(args) or {k for k, _ in measured.kwargs} != set(kwargs):
        return False
    pairs = [
        *zip(measured.args, args, strict=True),
        *((k, kwargs[name]) for name, k in measured.kwargs),
    ]
    return all(_same(a, b) for a, b in pairs)


def _contradicts(measured: Measured, args: tuple[str, ...], kwargs: dict[str, str]) -> bool:
    """True when some argument is a tensor in one and known to be none in the other."""
    pairs = [
        *zip(measured.args, args, strict=False),
        *((k, kwargs.get(name, "?")) for name, k in measured.kwargs),
    ]
    return any("?" not in (a, b) and ("tensor" in a) != ("tensor" in b) for a, b in pairs)


def _same(measured: str, asked: str) -> bool:
    """Do two kinds fit? "?" fits all; a rank or dtype that is not known fits any."""
    if "?" in (measured, asked) or measured == asked:
        return True
    if not (measured.endswith("tensor") and asked.endswith("tensor")):
        return measured.partition(" of ")[0] == asked.partition(" of ")[0] and " of ?" in asked
    dtype, wanted = measured.split()[-2], asked.split()[-2]
    ranks = (
        measured.startswith("0d "),
        "0d" if asked.startswith("0d ") else "nd" if asked.startswith("nd ") else "",
    )
    return wanted in ("?", dtype) and (not ranks[1] or ranks[0] == (ranks[1] == "0d"))


class Knowledge:
    """The tables of one torch version. Every table is read once, when it is first needed.

    A version's folder holds one file per table, or `differences.json`: what differs from the tables
    of another.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.version = folder.name

    @cached_property
    def _differences(self) -> dict:
        path = self.folder / DIFFERENCES
        return json.decode(path.read_bytes()) if path.is_file() else {}

    def _table(self, name: str) -> dict:
        if base := self._differences.get("base"):
            return differing(
                Knowledge(self.folder.parent / base)._table(name),
                self._differences["tables"].get(name, {}),
            )
        path = self.folder / f"{name}.json"
        return json.decode(path.read_bytes())["entries"] if path.is_file() else {}

    calls = cached_property(lambda self: self._table("calls"))
    contexts = cached_property(lambda self: self._table("contexts"))
    modules = cached_property(lambda self: self._table("modules"))
    attributes = cached_property(lambda self: self._table("attributes"))
    statements = cached_property(lambda self: self._table("statements"))
    classes = cached_property(lambda self: self._table("classes"))
    ops = cached_property(lambda self: self._table("ops"))
    results = cached_property(lambda self: self._table("returns"))
    shapes = cached_property(lambda self: self._table("shapes"))
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
                    return _fact(candidate, entry)
            if (operator := self.ops.get(candidate)) is not None:
                return _fact(candidate, operator.get("measured", []))
        return None

    def context(self, name: str) -> CallFact | None:
        """What was measured of `with name(...)`."""
        entry = self.contexts.get(name)
        return None if entry is None else _fact(name, entry)

    def attribute(self, name: str) -> CallFact | None:
        """What was measured of reading an attribute ("Tensor.grad_fn") or of setting it
        ("Tensor.requires_grad =")."""
        entry = self.attributes.get(name)
        return None if entry is None else _fact(name, entry)

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
            firsts = {_first(row) for row in rows} - {""}
            if (not firsts.isdisjoint(wanted) if ids else firsts) and not (
                always and any(map(_is_traced, rows))
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

    def break_type(self, gb_id: str) -> str | None:
        """A graph break's type, in the words of torch's registry."""
        return self.registry.get(gb_id)

    def _inherited(self, name: str) -> list[str]:
        owner, _, method = name.rpartition(".")
        return [f"{base}.{method}" for base in self.classes.get(owner, ())]


def _fact(name: str, entry: list) -> CallFact:
    if entry and isinstance(entry[0], dict):
        variants = tuple(
            Measured(
                e.get("code") or e["about"],
                tuple(e.get("args", ())),
                tuple(e.get("kwargs", {}).items()),
                *_split(e["breaks"]),
            )
            for e in entry
        )
    else:
        variants = (Measured("", (), (), *_split(entry)),)
    return CallFact(name, variants)


def _first(breaks: list[str]) -> str:
    """The id of the call itself, "" when it did not break."""
    for word in breaks:
        if word not in NOT_IDS:
            return word
    return ""


def _is_traced(breaks: list[str]) -> bool:
    return not breaks or breaks == ["lost"]


def _split(breaks: list[str]) -> tuple[tuple[str, ...], bool, bool]:
    return tuple(b for b in breaks if b not in NOT_IDS), "lost" in breaks, "fails" in breaks


def differing(base: dict, difference: dict) -> dict:
    """A table of another version: the base's entries without `removed` ("*": none of them), with
    `changed`."""
    removed = difference.get("removed", ())
    kept = (
        {}
        if "*" in removed
        else {name: entry for name, entry in base.items() if name not in set(removed)}
    )
    return kept | difference.get("changed", {})


@lru_cache(maxsize=1)
def shipped() -> list[str]:
    """The torch versions that tables exist for, oldest first."""
    folder = os.path.join(rules_folder(), "knowledge")
    files = ("calls.json", DIFFERENCES)
    versions = os.listdir(folder) if os.path.isdir(folder) else []
    found = [
        name
        for name in versions
        if any(os.path.isfile(os.path.join(folder, name, file)) for file in files)
    ]
    return sorted(found, key=_numbers)


def target_version() -> str:
    """The version that is judged by (see `judging_by`), else the installed torch's, read from its
    metadata without importing it; the newest shipped one without torch."""
    if (judged := _judged_by.get()) is not None:
        return judged
    return _installed() or shipped()[-1]


def _installed() -> str:
    """The installed torch's version, as the name of its metadata's folder has it; "" without torch."""
    for folder in import_folders():
        try:
            names = os.listdir(folder)
        except OSError:
            continue  # an archive, or nothing at all
        for name in names:
            if (
                name.startswith("torch-")
                and name.endswith(METADATA)
                and (found := re.match(VERSION, name[len("torch-") :]))
            ):
                return found.group()
            if name in ("torch.dist-info", "torch.egg-info"):
                return _version_inside()
    return ""


def _version_inside() -> str:
    """The version of a torch whose metadata's name has none: that of a checkout."""
    from importlib import metadata  # takes longer to import than all of the rules

    return metadata.version("torch").partition("+")[0]


@contextmanager
def judging_by(version: str) -> Iterator[None]:
    """Within, `load()`, `since()` and `target_version()` speak of this torch version. Raises
    ValueError when it is none."""
    _numbers(version)
    token = _judged_by.set(version)
    try:
        yield
    finally:
        _judged_by.reset(token)


def since(version: str) -> bool:
    """True when the version that is judged by is this one or a newer one; a patch level does not
    count."""
    return _numbers(target_version())[:2] >= _numbers(version)[:2]


def series(version: str) -> str:
    """The version without its patch level: "2.13"."""
    return ".".join(map(str, _numbers(version)[:2]))


def load(version: str | None = None) -> Knowledge:
    """The tables of the newest shipped version that is not newer than `version` (default:
    `target_version()`; a patch level does not count), else of the oldest. Raises ValueError when
    `version` is no version."""
    return _load(version or target_version())


@lru_cache(maxsize=4)
def _load(version: str) -> Knowledge:
    wanted = _numbers(version)[:2]
    versions = shipped()
    fitting = [v for v in versions if _numbers(v)[:2] <= wanted] or versions[:1]
    return Knowledge(rules_folder() / "knowledge" / fitting[-1])


def out_of_range(version: str) -> str:
    """A note when `version` is older or newer than every shipped one, else ""."""
    first, last, asked = shipped()[0], shipped()[-1], _numbers(version)[:2]
    if _numbers(first)[:2] <= asked <= _numbers(last)[:2]:
        return ""
    older = asked < _numbers(first)[:2]
    near, word = (first, "older") if older else (last, "newer")
    return f"torch {version} is {word} than the versions that are known ({first} to {last}); judged as {near}"


@lru_cache(maxsize=64)
def _numbers(version: str) -> tuple[int, ...]:
    found = re.match(VERSION, version)
    if not found:
        raise ValueError(f"{version!r} is no torch version; write one such as 2.13 or 2.13.0")
    numbers = tuple(int(n) for n in found.group().split("."))
    return (*numbers, 0, 0)[: max(3, len(numbers))]
