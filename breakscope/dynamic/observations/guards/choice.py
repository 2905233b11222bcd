"""Why no version of a function served a call.

Dynamo lists for every version the first guard that failed. That of the newest version is the cause
only where nothing else stood in the way: a version may have been made for another state (gradients
off, another dtype) that an older one has, and that older one failed for the reason that counts. So
the version that was nearest to serving the call is looked for, and all that kept it from it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from breakscope.dynamic.observations.guards.families import Guard, read_guard
from breakscope.dynamic.observations.guards.tree import ANY, STATE, Key, Version

OF_VERSION = re.compile(r"^\s*(?:- )?(?:!?\d+/)?(?P<version>\d+/\d+)(?:_\d+)?: ")
FAILED_TENSOR = re.compile(
    r"tensor '(?P<name>.+)' (?P<what>size|stride|dtype|rank|requires_grad) mismatch"
    r"(?: at index (?P<index>\d+))?\. expected (?:requires_grad=)?(?P<expected>[^,\s]+)"
    r"(?:, actual (?P<actual>[^\s.]+))?"
)
CHANGED = "GLOBAL_STATE changed:"
AUTOCAST = re.compile(r"\bautocast")
# What has few values, each of which needs a version of its own: a version for another one of these
# is another case of the function. What remains takes any value, and a version could serve them all.
STATES = frozenset(
    """
    requires_grad grad_mode autocast default_dtype global_state dtype device alias bool_argument
    none_argument enum_argument type backend optimizer_state module_parameters
    """.split()
)
SWITCH = re.compile(r" == (?:True|False)$|type=<class 'bool'>")


@dataclass(frozen=True)
class Cause:
    """The guards that kept the nearest version from serving a call: the one that explains the
    recompile, and those that would cause it without that one."""

    guard: str
    others: tuple[str, ...] = ()
    fixed: bool = False  # the version that was compiled for the call serves one value only, again


def why_none_served(
    reasons: Sequence[str], versions: Mapping[str, Version], compiled: Version | None
) -> Cause:
    """`reasons` of the versions there were, the newest first; `versions` by compile id, and the one
    that was `compiled` for the call, as far as the trace has their guards."""
    actual = _actual(reasons)
    ways = []
    for place, reason in enumerate(reasons):
        found = OF_VERSION.match(reason)
        version = versions.get(found["version"]) if found else None
        parts = _parts(reason)
        others = (
            _differences(version, compiled, actual, versions.values(), parts)
            if version is not None and compiled is not None
            else ()
        )
        every = (*parts, *others)
        states = sum(is_state(read_guard(part)) for part in every)
        ways.append(((states, len(every), place), every))
    first, *others = min(ways)[1]
    return Cause(first, tuple(dict.fromkeys(others)), _is_fixed(first, compiled))


def _is_fixed(guard: str, compiled: Version | None) -> bool:
    """Of what has a value for each call, such as a size or a number."""
    key = _key(guard) or (read_guard(guard).name, "value")
    return compiled is not None and compiled.values.get(key, ANY) != ANY


def is_state(guard: Guard) -> bool:
    """The guard is on something with few values, such as grad mode or a flag."""
    return guard.family in STATES or (
        guard.family in ("attribute", "global", "closure") and bool(SWITCH.search(guard.text))
    )


def _parts(reason: str) -> tuple[str, ...]:
    """One reason for each switch of torch that changed: `GLOBAL_STATE changed: grad_mode
    num_threads` is two."""
    head, changed, rest = reason.partition(CHANGED)
    if not changed:
        return (reason,)
    words = rest.partition("#")[0].split()
    return tuple(f"{head}{CHANGED} {word}" for word in words) or (reason,)


def _actual(reasons: Sequence[str]) -> dict[Key, str]:
    """What the call brought, as far as the failed guards name it."""
    found = {}
    for reason in reasons:
        if (failed := FAILED_TENSOR.search(reason)) and failed["actual"]:
            what = failed["what"] + (f" {failed['index']}" if failed["index"] else "")
            if failed["what"] in ("size", "stride", "rank"):
                found[failed["name"], what] = failed["actual"]
    return found


def _differences(
    version: Version,
    compiled: Version,
    actual: Mapping[Key, str],
    others,
    parts: Sequence[str],
) -> tuple[str, ...]:
    """What else than the named guards kept a version from serving the call, as Dynamo would say
    it."""
    named = {key for part in parts if (key := _key(part))}
    subjects = {read_guard(part).name for part in parts}
    found: list[str] = []
    sized: set[str] = {name for name, what in named if what.startswith(("size", "rank"))}
    for key, value in version.values.items():
        name, what = key
        now = actual.get(key) or _now(key, value, compiled, others)
        if value == ANY or not now or now == value or key in named:
            continue
        if what == "stride" or (what.startswith("stride") and name in sized):
            continue  # follows from the sizes
        if what.startswith("stride") and now == "another" and name in subjects:
            continue  # the layout changed, and another of its strides tells how
        if name in subjects and what in ("id", "none", "type", "value"):
            continue  # one change, seen by several guards
        found.append(_in_dynamos_words(key, value, now, version.texts[key]))
    return tuple(found)


def _now(key: Key, value: str, compiled: Version, others) -> str:
    """The value of the call for which a version was compiled: its own, or, where that serves any
    value while every earlier one had the same, some other value; "" where it is not known."""
    now = compiled.values.get(key)
    if now is None and key[1] == "value" and (key[0], "type") in compiled.values:
        now = ANY
    if now != ANY or now is None:
        return now or ""
    known = {other.values.get(key) for other in others if other is not compiled}
    return "another" if known == {value} else ""


def _key(reason: str) -> Key | None:
    if failed := FAILED_TENSOR.search(reason):
        return failed["name"], failed["what"] + (f" {failed['index']}" if failed["index"] else "")
    if CHANGED in reason:
        word = reason.partition(CHANGED)[2].strip()
        return STATE, "autocast" if AUTOCAST.match(word) else word
    return None


def _in_dynamos_words(key: Key, value: str, now: str, text: str) -> str:
    name, what = key
    kind, _, index = what.partition(" ")
    value, now = value.removeprefix("torch."), now.removeprefix("torch.")  # of dtypes
    known = "" if now == "another" else f", actual {now}"
    if name == STATE:
        return f"{CHANGED} {what}"
    if kind in ("size", "stride"):
        return f"tensor '{name}' {kind} mismatch at index {index}. expected {value}{known}"
    if kind == "requires_grad":
        return (
            f"tensor '{name}' requires_grad mismatch. expected requires_grad={int(value == 'True')}"
        )
    if kind in ("dtype", "device", "rank"):
        return f"tensor '{name}' {kind} mismatch. expected {value}{known}"
    return text
