"""What a fake run assumed and what it showed under other answers, as facts and findings."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec

from breakscope import limits
from breakscope.dynamic.findings.export_refusals import with_refusals
from breakscope.dynamic.findings.matching import make_findings
from breakscope.dynamic.findings.whole_line import finding_of_line
from breakscope.dynamic.observations.facts import Observations
from breakscope.dynamic.observations.ownership import Places
from breakscope.dynamic.options import FakeOptions
from breakscope.dynamic.source_text import SourceFile
from breakscope.dynamic.trace.progress_log import last_note
from breakscope.report.fact import Link
from breakscope.report.model import Finding
from breakscope.report.paths import shown_path
from breakscope.report.run_modes import Answer, Explored, Fake, Under
from breakscope.rulekit.rule import Rule
from breakscope.texts import middle_out, shortened

RAISED = "GB0088"  # Dynamo's word for an exception that the program itself raises
CANNOT_BE_FAKED = "BRK902"
REGISTER = "give the op a fake kernel with `torch.library.register_fake`: torch.compile and export need it too"
WRAP = "wrap it in a `torch.library.custom_op` with `register_fake`, or keep it out of the model's forward"
UNREADABLE = re.compile(
    r"data pointer|data is not allocated|unallocated storage|fake run has no values|UnsupportedOperatorException"
    r"|DataDependentOutputException|DynamicOutputShapeException|FakeTensor|\.numpy\(\) is not supported"
    r"|no fake impl registered"
)
NO_CUDA = re.compile(
    r"(?i)linked with support for cuda|compiled with cuda|requires cuda support|found no nvidia driver"
    r"|dummy base class _Cuda|torch\._C' has no attribute '_cuda"
)
ON_CUDA = "the program asks for CUDA: `--device cuda` lets it have fake CUDA tensors"
CUDA_BUILD = "a CUDA build of torch has what this one lacks, and needs no GPU for it"
Reader = Callable[[str], Observations]  # of one phase of the run


def fake_facts(
    options: FakeOptions,
    target: tuple[str, str],
    notes: Sequence[dict],
    places: Places,
    read: Reader,
    found: tuple[Finding, ...],
    rules: Iterable[Rule],
) -> tuple[tuple[Finding, ...], Fake]:
    """The findings with the answers that they hang on, those that only other answers showed, what
    cannot be faked; and the facts of the run."""
    rules = tuple(rules)
    found = tuple(msgspec.structs.replace(finding, cost=None) for finding in found)
    if any(note["event"] == "error" and note["stage"] == "eager" for note in notes):
        found = tuple(finding for finding in found if finding.kind != "error")  # that is the cause
    codes = {
        (tuple(note["frames"][-1][:2]), note["what"]): _code(note["frames"][-1])
        for note in notes
        if note["event"] == "answered" and note["frames"]
    }
    found, explored = _explored(notes, codes, read, found, rules)
    unfaked = [
        *(note for note in notes if note["event"] == "unfakeable"),
        *(_of_error(note) for note in notes if note["event"] == "error" and _is_fakes(note)),
    ]
    found = (*found, *_cannot_be_faked(unfaked, places, found, rules))
    found = with_refusals(notes, places, _definition(target), found, rules)
    exported = last_note(notes, "exported")
    device, model = last_note(notes, "fake device"), last_note(notes, "fake model")
    fake = Fake(
        elements=model.get("elements", 0),
        bytes=model.get("bytes", 0),
        assumed_device=device.get("assumed", ""),
        answers=_answers(notes, places),
        explored=explored,
        unexplored=tuple(
            _under(entry, codes) for entry in last_note(notes, "unexplored").get("answers", ())
        ),
        cannot_be_faked=tuple(
            Link(path=shown_path(f[0], Path.cwd()), line=f[1], function=note["what"])
            for note in unfaked
            if (f := _users(note["frames"], places))
        ),
        left_out=_left_out(device, notes),
        world_size=options.world_size,
        export=exported.get("outcome", ""),
        export_left_out=exported.get("why", ""),
    )
    return tuple(sorted(found, key=Finding.place)), fake


def _left_out(device: dict, notes: Sequence[dict]) -> tuple[str, ...]:
    """What fake CUDA tensors could not do, or were not asked to."""
    lacks = any(note["event"] == "error" and NO_CUDA.search(note["message"]) for note in notes)
    texts = (device.get("left_out", ""), (CUDA_BUILD if device else ON_CUDA) if lacks else "")
    return tuple(text for text in texts if text)


def _answers(notes: Sequence[dict], places: Places) -> tuple[Answer, ...]:
    answers = []
    for note in notes:
        if note["event"] != "answered" or note["run"] or not note["frames"]:
            continue
        frame = _users(note["frames"], places) or note["frames"][-1]
        answers.append(
            Answer(
                path=shown_path(frame[0], Path.cwd()),
                line=frame[1],
                function=SourceFile.read(frame[0]).qualified_name(frame[1]) or frame[2],
                what=note["what"],
                answers=tuple(note["answers"]),
                assumed=note["assumed"],
                count=note["count"],
                code=_code(frame),
            )
        )
    return tuple(answers)


def _explored(
    notes: Sequence[dict],
    codes: dict,
    read: Reader,
    found: tuple[Finding, ...],
    rules: tuple[Rule, ...],
) -> tuple[tuple[Finding, ...], tuple[Explored, ...]]:
    """Breaks that only other answers showed name these; those that were gone under another answer
    name the one that they had."""
    usual = {
        (*frame[:2], note["what"]): note["answers"]
        for note in notes
        if note["event"] == "answered" and not note["run"]
        for frame in note["frames"][-1:]
    }
    known = {_key(finding) for finding in found if finding.kind == "break"}
    explored, kept = [], list(found)
    for note in (note for note in notes if note["event"] == "explored"):
        under = tuple(_under(entry, codes) for entry in note["forced"])
        breaks = [
            finding
            for finding in make_findings(read(f"explore {note['run']}"), rules, Path.cwd())
            if finding.kind == "break" and not (note["problem"] and RAISED in finding.dynamo)
        ]
        new = [finding for finding in breaks if _key(finding) not in known]
        known |= {_key(finding) for finding in new}
        kept += [msgspec.structs.replace(f, under=under, cost=None) for f in new]
        seen = {_key(finding) for finding in breaks}
        path, line, what, _ = note["forced"][-1]
        answers = usual.get((path, line, what), ())
        if not note["problem"] and note["reached"] and len(note["forced"]) == 1 and answers:
            own = msgspec.structs.replace(under[-1], answer=answers[0])
            kept = [
                msgspec.structs.replace(f, under=(*f.under, own))
                if f.kind == "break" and not f.under and not f.backward and _key(f) not in seen
                else f
                for f in kept
            ]
        explored.append(Explored(under=under, breaks=len(new), problem=note["problem"]))
    return tuple(kept), tuple(explored)


def _key(finding: Finding) -> tuple:
    return (finding.path, finding.line, finding.dynamo or finding.code)


def _under(entry: Sequence, codes: dict) -> Under:
    path, line, what, answer = entry
    code = codes.get(((path, line), what)) or _code([path, line, ""])
    return Under(path=shown_path(path, Path.cwd()), line=line, what=what, answer=answer, code=code)


def _cannot_be_faked(
    unfaked: Sequence[dict],
    places: Places,
    found: Sequence[Finding],
    rules: tuple[Rule, ...],
) -> list[Finding]:
    """A finding for each place that cannot be faked, but for those where the graph ends for the same
    reason."""
    rule = next((r for r in rules if r.code == CANNOT_BE_FAKED), None)
    broken = {(f.path, f.line) for f in found if f.kind == "break" and "fake" in f.reason.lower()}
    made: dict[tuple, Finding] = {}
    for note in unfaked:
        frame = _users(note["frames"], places)
        if frame is None or rule is None:
            continue
        path, line = shown_path(frame[0], Path.cwd()), frame[1]
        if (path, line) in broken:
            continue
        source = SourceFile.read(frame[0])
        message = (
            f"`{note['what']}` has no fake kernel, so what it gives is not known before it runs"
            if note["what"]
            else f"`{_code(frame)}` needs real tensors: {note['problem']}"
        )
        made[(path, line, note["what"])] = finding_of_line(
            source,
            path,
            line,
            rule,
            message,
            function=source.qualified_name(line) or frame[2],
            help=REGISTER if note["what"] else WRAP,
            reason=note["problem"],
        )
    return list(made.values())


def _definition(target: tuple[str, str]) -> tuple[str, int]:
    """The file of a target, and the line that defines it."""
    path, name = target
    tree = SourceFile.read(path).tree
    for node in tree.body if tree else ():
        if getattr(node, "name", "") == name:
            return path, node.lineno
    return path, 1


def _is_fakes(note: dict) -> bool:
    """An error of the program that real tensors would not have had."""
    return bool(UNREADABLE.search(f"{note['type']} {note['message']}"))


def _of_error(note: dict) -> dict:
    text = " ".join(note["message"].split())
    op = re.search(r"^[\w]+\.[\w]+\.[\w]+$", text)
    return {
        "what": text if op else "",
        "problem": shortened(text, limits.LONGEST_EXCEPTION_TEXT),
        "frames": [frame[:3] for frame in note["frames"]],
    }


def _users(frames: Sequence[list], places: Places) -> list | None:
    """The innermost frame of the user's code."""
    return next((frame for frame in reversed(frames) if places.is_user(frame[0])), None)


def _code(frame: Sequence) -> str:
    """The expression at a frame where Python knows it, else its line."""
    source = SourceFile.read(frame[0])
    text = source.line(frame[1])
    if source.function_line(frame[1]) == frame[1]:  # code that Dynamo made names no other line
        text = f"{source.qualified_name(frame[1])}(...)"
    elif len(frame) > 4 and frame[4] > frame[3]:
        encoded = text.encode()
        text = encoded[frame[3] : frame[4]].decode("utf-8", "replace")
    return middle_out(text.strip(), limits.LONGEST_SNIPPET)
