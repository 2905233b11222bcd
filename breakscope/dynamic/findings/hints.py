"""Dynamo's own hints about a break, without those that a reader of this program cannot follow."""

from __future__ import annotations

import re
from collections.abc import Iterable

from breakscope.dynamic.observations.facts import Break
from breakscope.dynamic.observations.ownership import library_of

SWITCH = re.compile(r"\bconfig\.(?P<name>\w+)\s*=\s*True")
NAMED = re.compile(
    r"config\.(?P<name>\w+)`?\s*(?:=\s*(?:True|False)|to `?True)|\bwhen (?P<off>\w+) is off"
)
CALL = re.compile(r"^(?:Avoid calling|Remove the|Apply `@torch\._dynamo\.dont_skip_tracing`)")
OUTSIDE = (
    "the code that breaks is in {library}: call this line outside of the compiled region, or compile the modules inside "
    "it before they are wrapped"
)
CALLED = re.compile(r"`(?P<name>[\w.]+)(?:\(\))?`")


UNFAKEABLE = re.compile(
    r"^unsupported operator: (?!aten\.|prims?\.|torch)(?P<space>\w+)\.(?P<name>\w+)"
)
REGISTER = (
    "give `{op}` a fake kernel with `torch.library.register_fake`: a function with the same arguments that returns "
    "an empty tensor of the result's size and dtype"
)


def useful_hints(seen: Break, snippet: str, switches: frozenset[str]) -> tuple[str, ...]:
    """Without switches that are on already, and without what to do about a call that does not stand
    in the user's line, or in the user's code at all."""
    if op := UNFAKEABLE.match(seen.reason.context):
        return (REGISTER.format(op=f"{op['space']}::{op['name']}"),)
    return tuple(
        hint
        for hint in seen.reason.useful_hints
        if not _is_set(hint, switches) and (not CALL.match(hint) or _is_there(hint, seen, snippet))
    )


def named_switches(breaks: Iterable[Break]) -> tuple[str, ...]:
    """Dynamo's switches that the reasons and hints of breaks name as off."""
    texts = (
        text
        for seen in breaks
        for text in (seen.reason.type, seen.reason.explanation, *seen.reason.hints)
    )
    found = (found["name"] or found["off"] for text in texts for found in NAMED.finditer(text))
    return tuple(dict.fromkeys(found))


def _is_set(hint: str, switches: frozenset[str]) -> bool:
    named = SWITCH.findall(hint)
    return bool(named) and all(name in switches for name in named)


def _is_there(hint: str, seen: Break, snippet: str) -> bool:
    called = CALLED.search(hint)
    if called is None or library_of(seen.site.path):
        return False
    return called["name"].rpartition(".")[2] in snippet
