"""Two recordings of a target's calls, compared thing by thing."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import torch

from breakscope.dynamic.child.bench.compare import difference

EQUAL, NEAR, OTHER, FEWER, UNCOMPARED = (
    "equal",
    "within tolerance",
    "different",
    "fewer",
    "not compared",
)
WORST = (UNCOMPARED, EQUAL, NEAR, FEWER, OTHER)
STEADY: frozenset[str] = frozenset()
TEXTS = ("printed", "logged", "warned")


@dataclass
class Agreement:
    """How one thing compares over all calls: the worst, and where that was."""

    what: str
    status: str = UNCOMPARED
    detail: str = ""
    notes: list[str] = field(default_factory=list)

    def add(self, status: str, detail: str = "") -> None:
        if WORST.index(status) > WORST.index(self.status):
            self.status, self.detail = status, detail


def unsteady_state(ours: dict[str, dict], again: dict[str, dict]) -> frozenset[str]:
    """The names under which two runs of the original end with other state, so that nothing can be
    said of it: a time, an address."""
    return frozenset(
        name
        for name in ours.keys() & again.keys()
        if _state({name: ours[name]}, {name: again[name]})[0] == OTHER
    )


def eager_agreements(
    original: dict, other: dict, unsteady: frozenset[str] = STEADY
) -> list[Agreement]:
    """Everything that the calls did: all of it has to be equal, but for `unsteady` state."""
    names = ("outputs", "gradients", "random stream", "arguments", "module state", "exceptions")
    found = {name: Agreement(name) for name in (*names, *TEXTS)}
    ours, theirs = original["calls"], other["calls"]
    if len(ours) != len(theirs):
        found["exceptions"].add(
            OTHER, f"the original made {len(ours)} calls, the rewritten code {len(theirs)}"
        )
    pairs = [*zip(ours, theirs, strict=False), *_same_labels(original["values"], other["values"])]
    for one, two in pairs:
        is_own = one in ours
        _raised(found["exceptions"], one, two, is_own)
        if one["raised"] or two["raised"]:
            continue
        where = f"in {one['label']}" if is_own else f"with arguments {one['label']}"
        found["outputs"].add(*_leaves(one["outputs"], two["outputs"], where))
        found["gradients"].add(*_tensors(one["gradients"], two["gradients"], where))
        found["arguments"].add(*_leaves(one["arguments"], two["arguments"], where))
        found["random stream"].add(*_random(one["random"], two["random"], where))
        for name in TEXTS:
            found[name].add(*_texts(one[name], two[name], where))
    found["module state"].add(*_state(original["state"], other["state"], unsteady))
    detail = ", ".join(f"`{name}`" for name in sorted(unsteady))
    by_itself = [Agreement("what changes by itself", UNCOMPARED, detail)] if unsteady else []
    return [*found.values(), *by_itself]


def compiled_agreements(
    eager: dict, original: dict, other: dict, unsteady: frozenset[str] = STEADY
) -> list[Agreement]:
    """What the rewritten program does when it is compiled, against the original, which may itself
    differ when it is compiled."""
    names = ("outputs", "gradients", "arguments", "module state", "exceptions", "random stream")
    found = {name: Agreement(f"{name} when compiled") for name in (*names, *TEXTS)}
    for one, was, two in zip(eager["calls"], original["calls"], other["calls"], strict=False):
        where = f"in {one['label']}"
        if two["raised"] and not one["raised"]:
            found["exceptions"].add(OTHER, f"it raises {two['raised'][0]} {where}")
        if one["raised"] or two["raised"]:
            continue
        kinds = (("outputs", _leaves), ("gradients", _tensors), ("arguments", _leaves))
        for name, compare in (*kinds, ("random stream", _random)):
            found[name].add(
                *_better(
                    compare(
                        one[name.removesuffix(" stream")], two[name.removesuffix(" stream")], where
                    ),
                    compare(
                        was[name.removesuffix(" stream")], two[name.removesuffix(" stream")], where
                    )
                    if not was["raised"]
                    else None,
                )
            )
        found["exceptions"].add(EQUAL)
        for name in TEXTS:
            found[name].add(*_silenced(one[name], was[name], two[name], where))
    found["module state"].add(
        *_better(
            _state(eager["state"], other["state"], unsteady),
            _state(original["state"], other["state"], unsteady),
        )
    )
    return list(found.values())


def _better(one: tuple[str, str], other: tuple[str, str] | None) -> tuple[str, str]:
    if other is None or WORST.index(one[0]) <= WORST.index(other[0]):
        return one
    return other


def _same_labels(ours: list[dict], theirs: list[dict]) -> list[tuple[dict, dict]]:
    by_label = {call["label"]: call for call in theirs}
    return [(call, by_label[call["label"]]) for call in ours if call["label"] in by_label]


def _raised(agreement: Agreement, one: dict, two: dict, is_own: bool) -> None:
    where = f"in {one['label']}" if is_own else f"with arguments {one['label']}"
    ours, theirs = one["raised"], two["raised"]
    if bool(ours) != bool(theirs):
        who = "the original raises" if ours else "the rewritten code raises"
        raised = ours or theirs
        agreement.add(OTHER, f"only {who} {raised[0]} {where}: {raised[1][:120]}")
    elif ours and ours != theirs:
        which = "types" if ours[0] != theirs[0] else "messages"
        text = f"other {which} {where}: {ours[0]} became {theirs[0]}"
        agreement.add(OTHER if is_own and which == "types" else NEAR, text)
    else:
        agreement.add(EQUAL)


def _leaves(ours: list[dict], theirs: list[dict], where: str) -> tuple[str, str]:
    if len(ours) != len(theirs):
        return OTHER, f"{len(ours)} values became {len(theirs)} {where}"
    tensors: tuple[dict, dict] = ({}, {})
    for number, (one, two) in enumerate(zip(ours, theirs, strict=True), 1):
        name = f"value {number}"
        if one["type"] != two["type"]:
            return OTHER, f"{name} of type {one['type']} became {two['type']} {where}"
        if one["type"] != "tensor":
            if one["text"] != two["text"]:
                return OTHER, f"{name} was {one['text'][:60]} and is {two['text'][:60]} {where}"
            continue
        if one["requires_grad"] != two["requires_grad"]:
            lost = "loses" if one["requires_grad"] else "gains"
            return OTHER, f"{name} {lost} its gradient {where}"
        tensors[0][name], tensors[1][name] = one["tensor"], two["tensor"]
    return _tensors(*tensors, where) if ours else (UNCOMPARED, "")


def _tensors(
    ours: dict[str, torch.Tensor], theirs: dict[str, torch.Tensor], where: str
) -> tuple[str, str]:
    if not ours and not theirs:
        return UNCOMPARED, ""
    if ours.keys() == theirs.keys() and all(_is_same(ours[n], theirs[n]) for n in ours):
        return EQUAL, ""
    found = difference(ours, theirs)
    if found["status"] == "equal":
        return NEAR, (
            f"to within {found['max_relative']:.1g} of the largest value {where}, "
            f"where {found['tolerance']:.1g} is allowed"
        )
    return OTHER, f"{found.get('detail', '')} {_how(ours, theirs, found.get('detail', ''))} {where}"


def _how(ours: dict, theirs: dict, name: str) -> str:
    one, two = ours.get(name), theirs.get(name)
    if one is None or two is None:
        return "differs"
    if one.dtype != two.dtype:
        return f"is {two.dtype} and was {one.dtype}"
    if one.shape != two.shape:
        return f"has the shape {list(two.shape)} and had {list(one.shape)}"
    if one.is_floating_point() and not torch.equal(one.isnan(), two.isnan()):
        return "has NaN in other places"
    return "has other values"


def _is_same(one: torch.Tensor, two: torch.Tensor) -> bool:
    """Equal to the bit, NaN like NaN."""
    if one.dtype != two.dtype or one.shape != two.shape:
        return False
    if torch.equal(one, two):
        return True
    if not (one.is_floating_point() or one.is_complex()):
        return False
    return bool(((one == two) | (one.isnan() & two.isnan())).all())


def _random(ours: dict[str, str], theirs: dict[str, str], where: str) -> tuple[str, str]:
    other = [name for name in ours if name in theirs and ours[name] != theirs[name]]
    return (OTHER, f"that of {other[0]} is elsewhere {where}") if other else (EQUAL, "")


def _texts(ours: list[str], theirs: list[str], where: str) -> tuple[str, str]:
    if ours == theirs:
        return (EQUAL, "") if ours else (UNCOMPARED, "")
    if Counter(ours) == Counter(theirs):
        return OTHER, f"in another order {where}"
    return OTHER, f"{len(ours)} became {len(theirs)} {where}: {_first_other(ours, theirs)}"


def _silenced(eager: list[str], was: list[str], now: list[str], where: str) -> tuple[str, str]:
    """What is written when compiled: no more than the original writes."""
    if now in (was, eager):
        return (EQUAL, "") if now else (UNCOMPARED, "")
    if not Counter(now) - Counter(was):
        return FEWER, f"{len(was)} became {len(now)} {where}"
    return OTHER, f"{len(was)} became {len(now)} {where}: {_first_other(was, now)}"


def _first_other(ours: list[str], theirs: list[str]) -> str:
    left, more = Counter(ours) - Counter(theirs), Counter(theirs) - Counter(ours)
    return next(iter([*more, *left]), "")[:80]


def _state(
    ours: dict[str, dict], theirs: dict[str, dict], unsteady: frozenset[str] = STEADY
) -> tuple[str, str]:
    """What both know by one name is equal; what only the rewritten code has is its own."""
    missing = [name for name in ours if name not in theirs and not name.startswith("global ")]
    if missing:
        return OTHER, f"`{missing[0]}` is gone"
    worst = Agreement("")
    for name in (ours.keys() & theirs.keys()) - unsteady:
        one, two = ours[name], theirs[name]
        if one["type"] != two["type"]:
            worst.add(*_number_and_tensor(name, one, two))
        elif one["type"] == "tensor":
            status, detail = _tensors(
                {name: one["tensor"]}, {name: two["tensor"]}, "after all calls"
            )
            worst.add(status, detail)
        elif one["text"] != two["text"]:
            worst.add(OTHER, f"`{name}` was {one['text'][:60]} and is {two['text'][:60]}")
    return (worst.status, worst.detail) if worst.status != UNCOMPARED else (EQUAL, "")


def _number_and_tensor(name: str, one: dict, two: dict) -> tuple[str, str]:
    """A counter that became a buffer."""
    if (
        two["type"] == "tensor"
        and two["tensor"].numel() == 1
        and one["type"] in ("int", "float", "bool")
    ):
        if repr(type(eval_number(one))(two["tensor"].item())) == one["text"]:
            return NEAR, f"`{name}` of type {one['type']} became a tensor"
    return OTHER, f"`{name}` of type {one['type']} became {two['type']}"


def eval_number(value: dict) -> bool | int | float:
    kinds = {"int": int, "float": float, "bool": lambda text: text == "True"}
    return kinds[value["type"]](value["text"])
