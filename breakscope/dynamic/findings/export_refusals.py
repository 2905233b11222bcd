"""What torch.export refused, as findings: joined with the break at the line where there is one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import msgspec

from breakscope import limits
from breakscope.dynamic.findings.whole_line import finding_of_line
from breakscope.dynamic.observations.ownership import Places
from breakscope.dynamic.source_text import SourceFile
from breakscope.report.model import Finding
from breakscope.report.paths import shown_path
from breakscope.rulekit.rule import Rule
from breakscope.texts import shortened

CODE = "BRK903"
UNDECIDED = re.compile(r"data-dependent expression (?P<expression>.+?)(?: \(unhinted|\.\s|$)")
FIXES = (  # by what the reason says
    (
        re.compile(r"data-dependent|DataDependent"),
        "say what always holds with `torch._check(...)`, choose with `torch.where` or `torch.cond`, "
        "or keep the number a tensor",
    ),
    (
        re.compile(r"numpy|data pointer"),
        "compute it with tensor operations, or in a `torch.library.custom_op` with `register_fake`",
    ),
    (
        re.compile(r"fake kernel|fake impl|UnsupportedOperator|meta kernel"),
        "give the op a fake kernel with `torch.library.register_fake`",
    ),
    (
        re.compile(r"pytree|[Uu]nsupported (?:in|out)put|register_dataclass"),
        "return tensors, tuples or dicts, or register the class with `torch.export.register_dataclass`",
    ),
    (
        re.compile(r"mutat|attribute|assign"),
        "keep the state in a buffer that is updated in place, and set no attributes in `forward`",
    ),
)
USUAL = "`breakscope rule BRK903` says what to write, by the reason"


def with_refusals(
    notes: Sequence[dict],
    places: Places,
    target: tuple[str, int],
    found: tuple[Finding, ...],
    rules: Sequence[Rule],
) -> tuple[Finding, ...]:
    """The findings, with export's reason at breaks on the lines that it refuses, and one finding for
    each other refusal; one without a line of the user's stands where the target is defined."""
    rule = next((rule for rule in rules if rule.code == CODE), None)
    refusals: dict[tuple[str, int], str] = {}
    for note in notes:
        if note["event"] == "refused":
            users = [
                frame
                for frame in note["frames"]
                if places.is_user(frame[0]) and not frame[0].startswith("<")
            ]
            frame = users[-1] if users else [*target, ""]
            place = (shown_path(frame[0], Path.cwd()), frame[1])
            refusals.setdefault(place, _reason(note))
    joined = tuple(
        msgspec.structs.replace(finding, export=refusals.get((finding.path, finding.line), ""))
        if finding.kind == "break"
        else finding
        for finding in found
    )
    broken = {(finding.path, finding.line) for finding in found if finding.kind == "break"}
    if rule is None:
        return joined
    new = [
        _finding(path, line, reason, rule)
        for (path, line), reason in refusals.items()
        if (path, line) not in broken
    ]
    return (*joined, *new)


def _finding(path: str, line: int, reason: str, rule: Rule) -> Finding:
    source = SourceFile.read(str(Path(path).resolve()))
    code = shortened(source.line(line).strip(), limits.LONGEST_SNIPPET)
    message = f"torch.export refuses `{code}`: {reason}"
    advice = next((fix for words, fix in FIXES if words.search(reason)), USUAL)
    return finding_of_line(
        source, path, line, rule, message, help=advice, reason=reason, export=reason
    )


def _reason(note: dict) -> str:
    """In one line; what cannot be decided in few words."""
    text = " ".join(note["message"].split())
    if found := UNDECIDED.search(text):
        return f"it depends on values (data-dependent expression `{found['expression']}`)"
    return shortened((text or note["type"]).rstrip("."), limits.LONGEST_EXCEPTION_TEXT)
