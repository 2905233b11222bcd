"""What a person reads of a finding takes at most eight lines on a terminal of 80 columns: of every
rule, and of the samples."""

from pathlib import Path

import msgspec
import pytest
from examples import as_program, cases

from breakscope.report.formats import RenderOptions, render
from breakscope.report.model import Cost, Interval, Link, Report
from breakscope.static import StaticOptions, analyze

SAMPLES = sorted((Path(__file__).parents[2] / "samples").glob("*.py"))
PATH = "package/models/modeling_name.py"  # as long as they often are
COST = Cost(
    step_seconds=0.0018, step_interval=Interval(low=0.0017, high=0.0019), compile_seconds=3.2
)


def as_seen_in_a_run(finding):
    """The finding with all that a run can add to it."""
    chain = tuple(
        Link(path=PATH, line=n, function=f"EncoderLayer{n}.forward") for n in (10, 20, 30, 40)
    )
    return msgspec.structs.replace(
        finding,
        evidence="confirmed",
        count=1234,
        cost=COST,
        chain=chain,
        lost="loop" if finding.kind == "break" else "",
        dynamo=finding.dynamo or ("GB0170",),
    )


def assert_eight_lines(path, entry):
    result = analyze([str(path)], StaticOptions(entries=(f"{path}::{entry}",)))
    assert not result.errors
    for found in result.findings:
        found = msgspec.structs.replace(found, path=PATH)
        for shown in (found, as_seen_in_a_run(found)):
            for width in (80, 140):
                lines = block(shown, width)
                assert len(lines) <= 8 and max(map(len, lines)) <= width, "\n".join(lines)
                assert_whole(shown, lines)
    return len(result.findings)


def block(finding, width):
    report = Report(version="0", torch="2.13", findings=(finding,))
    return render(report, "text", RenderOptions(width=width)).split("\n\n")[0].splitlines()


def assert_whole(finding, lines):
    """The place, the carets, and of message and advice at least the beginning; with room for it,
    how it is known."""
    place = f"{PATH}:{finding.line}:{finding.column}:"
    assert " ".join(lines[:2]).startswith(f"{place} {finding.code} ")
    assert any(set(line.partition("|")[2]) >= set("^") for line in lines)
    text = " ".join(" ".join(lines).split())
    first_words = finding.help.partition("`")[0].split()[:6]
    assert " ".join(first_words) in text
    if finding.lost and not any(line.endswith("...") for line in lines[-1:]):
        assert "skipped" in text


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_of_every_rule(case, tmp_path):
    assert assert_eight_lines(as_program(case, case.example.bad, tmp_path), "make") > 0


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_of_the_samples(path):
    assert_eight_lines(path, "make")


def test_most_findings_of_the_samples_are_shown_whole():
    findings = [
        f
        for path in SAMPLES
        for f in analyze([str(path)], StaticOptions(entries=(f"{path}::make",))).findings
    ]
    whole = [f for f in findings if f.help in " ".join(" ".join(block(f, 80)).split())]
    assert len(whole) > 0.9 * len(findings) > 0
