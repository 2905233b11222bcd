"""What was measured of calls under Dynamo, and what follows for a call with other arguments."""

from __future__ import annotations

from msgspec import Struct

from breakscope.rulekit.values import Const, Dict, Function, Sequence, Tensor, Value

NOT_IDS = ("lost", "fails")  # words among the ids of an entry
CLASS_METHODS = frozenset(
    f"{cls.__name__}.{name}"
    for cls in (dict, int, float, bytes, bytearray)
    for name, member in vars(cls).items()
    if type(member) is type(vars(dict)["fromkeys"])
)


class Measured(Struct, frozen=True):
    """One measured variant of a call: its source, the kinds of its arguments and what Dynamo did.

    `breaks` are ids in order of appearance, the first that of the call itself. `skips`: nothing of
    the function was compiled. `fails`: Dynamo raised an exception instead of breaking the graph.
    """

    code: str
    args: tuple[str, ...]
    kwargs: tuple[tuple[str, str], ...]
    breaks: tuple[str, ...]
    skips: bool = False
    fails: bool = False

    @property
    def is_trouble(self) -> bool:
        return bool(self.breaks) or self.fails


class Verdict(Struct, frozen=True):
    """What is known of one call: the ids it breaks with (empty: it is traced) and whether every
    variant that fits agrees."""

    breaks: tuple[str, ...]
    certain: bool
    skips: bool = False
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
    def skips(self) -> bool:
        return any(v.skips for v in self.variants)

    def verdict(self, args: tuple[str, ...] = (), kwargs: dict[str, str] | None = None) -> Verdict:
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
            ids,
            agreed and bool(fitting),
            any(v.skips for v in chosen),
            any(v.fails for v in chosen),
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
        ndim = "0d " if value.ndim == 0 else "" if value.ndim is None else "nd "
        return f"{ndim}{value.dtype or '?'} tensor"
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


def _same(measured: str, given: str) -> bool:
    """Do two kinds fit? "?" fits all; a number of dimensions or a dtype that is not known fits any."""
    if "?" in (measured, given) or measured == given:
        return True
    if not (measured.endswith("tensor") and given.endswith("tensor")):
        return measured.partition(" of ")[0] == given.partition(" of ")[0] and " of ?" in given
    dtype, wanted = measured.split()[-2], given.split()[-2]
    dims = (
        measured.startswith("0d "),
        "0d" if given.startswith("0d ") else "nd" if given.startswith("nd ") else "",
    )
    return wanted in ("?", dtype) and (not dims[1] or dims[0] == (dims[1] == "0d"))


def fact_of(name: str, entry: list) -> CallFact:
    """An entry of the tables. What breaks on an instance, as `d.fromkeys(keys)`, may be traced on its
    type, as which it is named."""
    if name in CLASS_METHODS:
        entry = [e for e in entry if e.get("code", "").startswith(f"{name}(")] or entry
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


def first_of(breaks: list[str]) -> str:
    """The id of the call itself, "" when it did not break."""
    for word in breaks:
        if word not in NOT_IDS:
            return word
    return ""


def is_traced(breaks: list[str]) -> bool:
    """True for an entry without a break."""
    return not breaks or breaks == ["lost"]


def _split(breaks: list[str]) -> tuple[tuple[str, ...], bool, bool]:
    return tuple(b for b in breaks if b not in NOT_IDS), "lost" in breaks, "fails" in breaks
