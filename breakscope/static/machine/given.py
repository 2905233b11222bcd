"""Conditions, as source text: under which code runs, or a value is what it is."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from breakscope import limits
from breakscope.rulekit.values import Union, Value, options

# an attribute has the name of the argument that it was set to, often in other letters
OWNERS = re.compile(r"\b(?:self\.config|self|config)\.([A-Za-z_]\w*)\b(?!\()")

# a name that is compared with a text or a whole number
EQUALS = re.compile(r"""(?P<name>[\w.]+) (?P<sign>[!=])= (?P<text>'[^'"]*'|"[^'"]*"|\d+)""")


def both(first: str, second: str) -> str:
    """The condition that both hold; the first alone where together they are too long to read."""
    if not first or not second or _plain(second) in _plain(first):
        return first or second
    second = _beyond(first, second)
    text = f"{_bracketed(first)} and {_bracketed(second)}"
    return text if len(text) <= limits.LONGEST_CONDITION else first


def _beyond(first: str, second: str) -> str:
    """What the second condition asks for beside the first."""
    if " or " in first or " or " in second or " if " in second:
        return second
    known = {_plain(part) for part in first.split(" and ")}
    parts = second.split(" and ")
    kept = [p for p in parts if p.count("(") != p.count(")") or _plain(p) not in known]
    return " and ".join(kept) or second


def taken(machine: Any, branch: tuple, module: object) -> str:
    """The condition under which a frame's `branch` is taken, those of the branches around it included."""
    test, side, around = branch
    text = machine.text(test, module)
    return both(around, text if side else opposite(text))


def excludes(known: str, condition: str) -> bool:
    """True when the condition does not hold where what is known holds; an attribute stands for the
    argument of its name that it was set to."""
    parts = {_plain(part) for part in known.split(" and ")}
    return any(
        _plain(opposite(part)) in parts or opposite(_plain(part)) in parts or _differs(part, parts)
        for part in _parts(condition)
    )


def implies(condition: str, known: str) -> bool:
    """True where all that is `known` is among what the condition asks for."""
    return {_unbracketed(p) for p in _parts(known)} <= {_unbracketed(p) for p in _parts(condition)}


def _unbracketed(part: str) -> str:
    """`not isinstance(x, list)` of `not (isinstance(x, list))`, as a negation is written beside other tests."""
    plain = _plain(part)
    is_negated = plain.startswith("not (") and plain.endswith(")")
    return f"not {plain[5:-1]}" if is_negated else plain


def _parts(condition: str) -> list[str]:
    """What a condition asks for all together: of `not (a == 1) and a == 2` both."""
    if " or " in condition or " if " in condition:
        return [condition]
    parts = condition.split(" and ")
    return parts if all(p.count("(") == p.count(")") for p in parts) else [condition]


def _differs(part: str, known: set[str]) -> bool:
    """True for `mode == "a"` where `mode == "b"`, or `mode != "a"`, is known."""
    asked = EQUALS.fullmatch(_plain(part))
    for match in map(EQUALS.fullmatch, known if asked else ()):
        if match is None or asked["name"] != match["name"]:
            continue
        is_same = asked["text"].strip("'\"") == match["text"].strip("'\"")
        if is_same == (asked["sign"] != match["sign"]) and "=" in asked["sign"] + match["sign"]:
            return True
    return False


def by_condition(value: Value, known: str) -> list[tuple[Value, str]]:
    """What a value may be where the condition `known` holds, each with the condition under which it is
    that, "" where nobody knows it."""
    if type(value) is Union and value.conditions:
        rows = list(zip(value.options, value.conditions))
        if not known:
            return rows
        return [r for r in rows if not (r[1] and excludes(known, r[1]))] or rows
    return [(option, "") for option in options(value)]


@lru_cache(maxsize=1024)
def _plain(test: str) -> str:
    """A test as the constructor's argument has it, without needless brackets."""
    plain = OWNERS.sub(lambda found: found[1].lower(), test)
    return plain[1:-1] if plain[:1] == "(" and plain.find(")") == len(plain) - 1 else plain


def opposite(test: str) -> str:
    """The source of a test's negation, for a reader."""
    if test.startswith("not ") and not any(word in test for word in (" and ", " or ")):
        return test.removeprefix("not ")
    return f"not ({test})" if " " in test else f"not {test}"


def _bracketed(test: str) -> str:
    return f"({test})" if " or " in test or " if " in test else test
