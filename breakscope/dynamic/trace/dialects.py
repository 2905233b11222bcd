"""How torch's versions differ in what they write: everything that depends on the version, 2.6 to
2.15, in one place.

What all versions share is read where it is needed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping

from breakscope.knowledge import load

REASON = re.compile(r"^(?:Graph Break )?Reason: ?", re.MULTILINE)  # "Reason:" up to 2.7
# behind ops that stay compiled, as in a `try`; seen in 2.13
NOT_RESUMED = "Encountered graph break that we cannot resume from"
# from 2.11
PREAMBLES = (
    "Encountered graph break when attempting to trace",
    "Failed to handle graph break gracefully",
    NOT_RESUMED,
)
ANOTHER = "*** While handling this graph break, another graph break occurred: ***"  # from 2.11
# up to 2.9, and only with TORCH_LOGS=graph_breaks
SKIPPED = "Graph break: skip: from user code at:"
# in the text log, from 2.9 or 2.11
REPEATED = "(user stack suppressed due to duplicate graph break)"
UNSUPPORTED = "torch._dynamo.exc.Unsupported: "
# source: 2.13
ENDS = (
    "User code traceback:",
    "Stack variable source attribution:",
    "Traceback (most recent call last):",
    "from user code:",
    "Set TORCHDYNAMO_VERBOSE",
    "Set TORCH_LOGS",
)
# The free texts of 2.6 and 2.7, which have no ids, by how they begin.
OLD_TEXTS = (
    ("Data-dependent jump", "GB0170"),
    ("generic_jump", "GB0170"),
    ("Tensor.item", "GB0124"),
    ("builtin: ", "GB0059"),
    ("TorchDynamo purposely graph breaks on RNN", "GB0014"),
    ("BEFORE_WITH", "GB0142"),
    ("dynamic shape operator", "GB0036"),
    ("data dependent operator", "GB0033"),
    ("call_function graph_break", "GB0025"),
    ("'skip function", "GB0007"),
    ("Tensor.backward", "GB0123"),
    ("torch.* op returned non-Tensor", "GB0208"),
)
# halves of characters, and NUL
UNWRITABLE = re.compile(r"\\u(?:[dD][89a-fA-F][0-9a-fA-F]{2}|0000)")
NEWEST = (2, 15)
LAST_WITHOUT_LINKS = "2.9.1"  # 2.8 never writes the link that names the id, 2.9 not always


def id_of_old_text(kind: str) -> str:
    """The GB id for a free text of 2.6 or 2.7; "" when it is another text."""
    return next((gb_id for start, gb_id in OLD_TEXTS if kind.startswith(start)), "")


def ids_by_type(version: str) -> dict[str, str]:
    """The GB id of every type, from breakscope's own tables; `version` "" means one that writes no
    links."""
    ids: dict[str, str] = {}
    for gb_id, kind in load(version or LAST_WITHOUT_LINKS).registry.items():
        ids.setdefault(kind, gb_id)
    return ids


def recompile_reasons(payload: str) -> list[str]:
    """The reasons of one recompile, newest cache entry first: a JSON list, or one bare string (from
    2.11)."""
    try:
        value = json.loads(UNWRITABLE.sub("?", payload))
    except (ValueError, RecursionError):
        value = payload
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list):
        return []
    return [
        " ".join(str(part) for part in item) if isinstance(item, list) else str(item)
        for item in value
        if item
    ]


def in_user_words(guard: str) -> str:
    """A guard without the scope of its names: 2.6 and 2.7 write `L['self'].steps` for `self.steps`."""
    return re.sub(r"L\['(\w+)'\]", r"\1", guard)


def version_of(payload: str) -> str:
    """The version in a `torch_version` artifact, which there is from 2.13 on; "" when it holds
    none."""
    try:
        versions = json.loads(payload)
    except (ValueError, RecursionError):
        return ""
    return as_version(versions.get("pytorch_version")) if isinstance(versions, Mapping) else ""


def as_version(value: object) -> str:
    """What is a version, such as "2.13.0+cpu"; "" for anything else."""
    return (
        value
        if isinstance(value, str) and re.fullmatch(r"\d{1,4}\.\d{1,4}[\w.+-]{0,60}", value)
        else ""
    )


def dialect(version: str, breaks: Iterable[str], guards: Iterable[str]) -> tuple[int, int]:
    """The oldest version that writes as these texts of breaks and of failed guards are written.

    From the version where it is known, else from the texts; the newest of all without either.
    """
    if numbers := re.match(r"(\d{1,4})\.(\d{1,4})", version):
        return int(numbers[1]), int(numbers[2])
    texts = [
        found.group() + text[found.end() :] for text in breaks if (found := REASON.search(text))
    ]
    if any(text.startswith("Reason:") for text in texts):
        return 2, 6
    if any(text.removeprefix("Graph Break Reason: ").startswith(PREAMBLES) for text in texts):
        return 2, 11
    if any("#" in text for text in guards):
        return 2, 9
    return (2, 8) if texts else NEWEST


def limits(
    version: str, dialect: tuple[int, int], text_log: bool, recompiles: bool
) -> tuple[str, ...]:
    """What a dialect, or a text log of it, does not contain."""
    notes = []
    if not version:
        notes.append(
            "the torch version is not known: "
            + ("a text log does" if text_log else "traces up to torch 2.9 do")
            + " not name it"
        )
    if text_log:
        notes.append("a text log has no graphs and no compile times; a TORCH_TRACE folder has")
    if text_log and dialect < (2, 11):
        notes.append(
            "a text log of this torch does not show that a frame is skipped as a whole because of a break in a loop "
            "(2.11 does)"
        )
    if dialect < (2, 8):
        notes.append(
            "this torch names no callers and no GB ids: the ids are derived from its words (2.8 names callers)"
        )
    if dialect < (2, 9) and recompiles:
        notes.append(
            "this torch does not name the line that a guard is for: a recompile stands at its function (2.9 does)"
        )
    return tuple(notes)
