"""Dynamo's text about one graph break, in the dialects of torch 2.6 to 2.15, as facts."""

from __future__ import annotations

import re
from dataclasses import dataclass

from breakscope import limits
from breakscope.dynamic.trace.dialects import (
    ANOTHER,
    ENDS,
    NOT_RESUMED,
    PREAMBLES,
    REASON,
    id_of_old_text,
)

LINK = re.compile(r"/gb/gb(\d{1,9})\.html")
HEADER = re.compile(
    r"^Graph break\b.*? in user code at (?P<path>.{1,4096}):(?P<line>\d{1,9})\s*$", re.MULTILINE
)
C_FRAMES = re.compile(
    r"(?:\\n|\n)Exception raised from [^\n]*?\(most recent call first\):"
    r"(?:(?:\\n|\n)frame #\d+: [^\n]*?(?=\\n|\n|'\)))*(?:\\n|\n)?"
)
USELESS_HINTS = (
    "Please report an issue",
    "It may be possible to write Dynamo tracing rules",
    "File an issue to PyTorch",
    "This graph break is fundamental",
    "This graph break may have been caused by an earlier graph break",
    "This is likely to be a Dynamo bug",
    "Your code may result in an error when running in eager",
    "If it is a Python builtin, please file an issue",
)


@dataclass(frozen=True)
class Reason:
    """Why a graph ended. `gb_id` is "" where the dialect has none and the registry lacks
    the type."""

    type: str
    explanation: str = ""
    context: str = ""
    hints: tuple[str, ...] = ()
    gb_id: str = ""
    wrapped_by: str = (
        ""  # type of the second break, for which the frame is skipped: "graph break in loop"
    )
    abandoned: bool = False  # Dynamo reports that the frame is skipped as a whole
    not_resumed: bool = False  # or from here on

    @property
    def text(self) -> str:
        """One line: the type and Dynamo's explanation."""
        words = f"{self.type}: {self.explanation}" if self.explanation else self.type
        return " ".join(words.split())

    def words(self, inside_torch: str) -> str:
        """What rules' patterns are searched in: the text, and torch's file where it happened."""
        return f"{self.text} in {inside_torch}" if inside_torch else self.text

    @property
    def useful_hints(self) -> tuple[str, ...]:
        return tuple(h for h in self.hints if not h.startswith(USELESS_HINTS))


def read_reason(text: str, ids: dict[str, str]) -> Reason:
    """Read a `dynamo_graph_break_reason` artifact, a TORCH_LOGS message or a `fail_reason`.

    `ids` maps the types of torch's registry to GB ids, for the dialects that do not name the id.
    """
    found = REASON.search(text)
    body = without_c_frames(text[found.end() :] if found else text)
    first, _, second = body.partition(ANOTHER)
    abandoned = bool(second) or body.lstrip().startswith(PREAMBLES[1])
    reason = _read_one(_without_preamble(_until_end(first)), ids)
    wrapper = _read_one(_until_end(second), ids) if second else None
    return Reason(
        reason.type,
        reason.explanation,
        reason.context,
        reason.hints,
        reason.gb_id,
        wrapper.type if wrapper else "",
        abandoned,
        body.lstrip().startswith(NOT_RESUMED),
    )


def without_c_frames(text: str) -> str:
    """A message without the stack of C++ that some versions of torch put into it; as its repr too,
    where \\n stands for the ends of lines."""
    return C_FRAMES.sub("", text)


def header_place(text: str) -> tuple[str, int] | None:
    """The file and line that the first line of a break report names."""
    found = HEADER.search(text)
    return (found["path"], int(found["line"])) if found else None


def _until_end(text: str) -> str:
    places = [place for place in (text.find("\n" + end) for end in ENDS) if place >= 0]
    return text[: min(places)] if places else text


def _without_preamble(text: str) -> str:
    while text.lstrip().startswith(PREAMBLES):
        rest = text.lstrip().partition("\n\n")[2]
        if not rest:
            rest = text.lstrip().partition("\n")[2]
        text = rest
    return text


def _read_one(text: str, ids: dict[str, str]) -> Reason:
    kind, rest = "", []
    for line in text.splitlines():
        if not kind:
            kind = line.strip().removeprefix("Unsupported: ")
        else:
            rest.append(line)
    parts: dict[str, list[list[str]]] = {
        "Explanation": [],
        "Hint": [],
        "Developer debug context": [],
    }
    open_part: list[str] | None = None
    for line in rest:
        stripped = line.strip()
        title = next((name for name in parts if stripped.startswith(f"{name}:")), None)
        if title:
            open_part = [stripped.removeprefix(f"{title}:").strip()]
            parts[title].append(open_part)
        elif stripped.startswith("For more details about this graph break"):
            open_part = None
        elif open_part is not None and stripped:
            open_part.append(stripped)
    link = LINK.search(text)
    return Reason(
        type=kind[: limits.LONGEST_REASON],
        explanation="\n".join(line for part in parts["Explanation"] for line in part)[
            : limits.LONGEST_REASON
        ],
        context=" ".join(line for part in parts["Developer debug context"] for line in part)[
            : limits.LONGEST_REASON
        ],
        hints=tuple(" ".join(part)[: limits.LONGEST_REASON] for part in parts["Hint"]),
        gb_id=f"GB{int(link[1]):04d}" if link else ids.get(kind, "") or id_of_old_text(kind),
    )
