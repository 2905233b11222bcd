"""What was fake about a run, in sentences."""

from __future__ import annotations

from collections.abc import Iterable

from breakscope import limits
from breakscope.report.model import Finding
from breakscope.report.run_modes import Answer, Explored, Fake, Under
from breakscope.report.summary import count

UNITS = ("", "thousand", "million", "billion", "trillion")
NOT_TOLD = "it cannot tell seconds, memory, outputs, or recompiles that only other values cause"


def fake_texts(fake: Fake, status: str) -> list[str]:
    """That the run was fake, what was assumed, and what that leaves open."""
    size = f"a model of {_number(fake.elements)} numbers" if fake.elements else "the target"
    ranks = f" as one of {fake.world_size} fake ranks" if fake.world_size > 1 else ""
    device = f", on an assumed {fake.assumed_device}" if fake.assumed_device else ""
    ran = "ran" if status == "ok" else "was run until it failed,"
    texts = [f"{size} {ran}{ranks} without memory for its tensors{device}; {NOT_TOLD}"]
    if fake.world_size > 1:
        texts.append("what other ranks send is assumed, and the same on every rank")
    assumed = [answer for answer in fake.answers if answer.assumed and answer.what != "values"]
    if assumed:
        texts.append(f"assumed: {_some(_answer(answer) for answer in assumed)}")
    computed = [answer for answer in fake.answers if not answer.assumed and answer.what == "bool"]
    if computed:
        texts.append(f"as the example inputs have it: {_some(_answer(a) for a in computed)}")
    drawn = [a for a in fake.answers if a.assumed and a.what == "values"]
    if drawn:
        texts.append(
            "drawn at random, because the program reads all values: "
            f"{_some(f'`{a.code}` ({_place(a)})' for a in drawn)}"
        )
    texts += fake.left_out
    return [*texts, *_explored(fake), *_exported(fake)]


def _exported(fake: Fake) -> list[str]:
    if not fake.export:
        return []
    return [
        {
            "taken": "torch.export takes the target",
            "refused": "torch.export refuses the target; the findings say where and why",
            "left out": f"torch.export was not tried: {fake.export_left_out}",
        }[fake.export]
    ]


def export(finding: Finding) -> str:
    """That torch.export refuses the line of a break too."""
    if not finding.export or finding.kind != "break":
        return ""
    return f"torch.export refuses it too: {finding.export}"


def under(finding: Finding) -> str:
    """Under which answers a finding was seen."""
    if not finding.under:
        return ""
    return f"seen only when {' and '.join(_holds(each, finding.path) for each in finding.under)}"


def _explored(fake: Fake) -> list[str]:
    if not fake.explored:
        return []
    new = sum(run.breaks for run in fake.explored)
    texts = [
        f"{count(len(fake.explored), 'more run')} with other answers showed "
        f"{count(new, 'more break') if new else 'no other break'}"
    ]
    refused = [run for run in fake.explored if run.problem]
    if refused:
        texts.append(f"the program refuses {_some(_refused(run) for run in refused)}")
    if fake.unexplored:
        left = _some(_holds(each, "") for each in fake.unexplored)
        texts.append(f"not tried: {left}; --explore-runs allows more")
    return texts


def _refused(run: Explored) -> str:
    return f"{_holds(run.under[-1], '')}: {run.problem}"


def _answer(answer: Answer) -> str:
    values = ", ".join(answer.answers)
    how = "of size" if answer.what == "size" else "is"
    return f"`{answer.code}` ({_place(answer)}) {how} {values}"


def _holds(each: Under, path: str) -> str:
    place = f"line {each.line}" if each.path == path else f"{each.path}:{each.line}"
    how = "of size" if each.what == "size" else "is"
    return f"`{each.code}` ({place}) {how} {each.answer}"


def _place(answer: Answer) -> str:
    return f"{answer.path}:{answer.line}"


def _some(texts: Iterable[str]) -> str:
    found = list(texts)
    more = len(found) - limits.MOST_SHOWN_ANSWERS
    shown = "; ".join(found[: limits.MOST_SHOWN_ANSWERS])
    return f"{shown}; and {more} more" if more > 0 else shown


def _number(value: int) -> str:
    """ "69 billion"."""
    for unit in UNITS:
        if value < 1000 or unit == UNITS[-1]:
            return f"{value:.3g} {unit}".strip() if unit else str(value)
        value = value / 1000
    return str(value)
