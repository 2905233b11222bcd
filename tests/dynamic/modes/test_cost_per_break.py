"""What each of several breaks costs: every form of the step is measured, and nothing is claimed
that was not."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from running import TARGETS, line_of

from breakscope.dynamic import RunOptions, run_target
from breakscope.dynamic.capture.child_process import run_child
from breakscope.dynamic.capture.folders import run_folder
from breakscope.dynamic.modes.cost_per_break import MEANING, _costs, with_cost_per_break
from breakscope.dynamic.options import Neutral, RunResult
from breakscope.dynamic.trace.progress_log import read_progress
from breakscope.report.model import Finding, Run

torch = pytest.importorskip("torch")
FILE = str(TARGETS / "several.py")
OPTIONS = RunOptions(
    file=FILE,
    name="make",
    backend="aot_eager",
    device="cpu",
    timeout=200.0,
    vary=False,
    explain=False,
)


def at(mark, branch=False, text=None):
    """The break at the line that ends in the mark."""
    line = line_of(f"# {mark}", "several.py")
    source = Path(FILE).read_text().splitlines()[line - 1]
    column = source.index(text) + 1
    return Neutral(
        path=FILE, line=line, column=column, end_column=column + len(text), branch=branch
    )


@pytest.fixture(scope="module")
def progress():
    nowhere, idle = (
        Neutral(path=FILE, line=line, column=1, end_column=4, branch=False) for line in (3, 1)
    )
    sites = (at("print", text='print(end="")'), at("branch", True, "x.sum() > 1e9"), nowhere, idle)
    with run_folder() as folder:
        run_child(folder, replace(OPTIONS, neutralise=sites), work="each break")
        return read_progress(folder / "progress.jsonl")


@pytest.mark.nightly
def test_every_form_is_stepped_beside_the_step_and_the_others(progress):
    assert not [note for note in progress if note["event"] in ("error", "failure")]
    ways = {note["number"]: note["way"] for note in progress if note["event"] == "neutralised"}
    assert ways[0] == "left out" and ways[1] == "truth"
    (steps,) = [note for note in progress if note["event"] == "steps"]
    assert steps["numbers"] == [0, 1]
    assert len(steps["rounds"]) >= 6 and all(
        len(seconds) == 3 and min(seconds) > 0 for seconds in steps["rounds"]
    )


def test_a_break_that_cannot_be_neutralised_is_left_out(progress):
    problems = {note["number"]: note["problem"] for note in progress if note["event"] == "form"}
    assert problems == {
        0: "",
        1: "",
        2: "TargetError: it could not be neutralised",
        3: "TargetError: without it as many pieces are left",
    }


def test_a_form_with_other_outputs_is_no_form():
    from breakscope.dynamic.child.bench.cost_per_break import _same

    one = {"outputs": {"output 0": torch.ones(3)}, "gradients": {}}
    assert _same(one, {"outputs": {"output 0": torch.ones(3) + 1e-7}, "gradients": {}})
    assert not _same(one, {"outputs": {"output 0": torch.ones(3) * 1.1}, "gradients": {}})


def finding(line, count=1):
    return Finding(
        path="m.py",
        line=line,
        column=5,
        end_line=line,
        end_column=9,
        code="BRK401",
        rule="print",
        kind="break",
        severity="warning",
        confidence="certain",
        evidence="observed",
        function="f",
        message="m",
        count=count,
    )


ROUNDS = [
    [1.0 + n / 1000, 0.9 + n / 1000, 0.9999 + n / 1000 * (1 if n % 2 else 1.002)] for n in range(20)
]


def test_costs_above_the_noise_are_told_and_the_others_named():
    breaks = [finding(3), finding(4), finding(5)]
    notes = [
        {"event": "form", "number": 2, "problem": "TargetError: as many pieces are left"},
        {"event": "steps", "numbers": [0, 1], "rounds": ROUNDS},
    ]
    costs, unmeasured = _costs(notes, breaks)
    assert set(costs) == {breaks[0].place()}
    assert (
        0.09
        < costs[breaks[0].place()].step_interval.low
        <= costs[breaks[0].place()].step_seconds
        < 0.11
    )
    assert [text.partition(" was not measured for ")[2] for text in unmeasured] == [
        "m.py:4: smaller than the noise of this measurement",
        "m.py:5: TargetError: as many pieces are left",
    ]


def test_what_ended_the_measuring_is_reported():
    reported = [{"event": "error", "stage": "steps", "message": "the step never stops compiling"}]
    assert _costs(reported, [finding(3), finding(4)])[1] == (
        "what it costs per step alone was not measured for m.py:3, m.py:4: the step never stops compiling",
    )
    assert "time ran out" in _costs([], [finding(3)])[1][0]


@pytest.mark.parametrize(
    "change", [{"backend": "eager"}, {"calls": "calls"}, {"drive": "drive"}, {}]
)
def test_nothing_is_run_where_nothing_can_be_measured(change):
    run = Run(
        target="m.py::f",
        status="ok",
        device="cpu",
        backend="aot_eager",
        torch_version="",
        python_version="",
    )
    ran = RunResult(findings=(finding(3),), run=run)
    places = [(finding(3), at("print", text="print"))] * (2 if change else 1)
    assert with_cost_per_break(replace(OPTIONS, **change), ran, places) is ran


def test_peel_reports_it_and_what_it_means():
    ran = run_target(OPTIONS)
    sites = {
        "print": at("print", text='print(end="")'),
        "branch": at("branch", True, "x.sum() > 1e9"),
    }
    lines = {site.line: site for site in sites.values()}
    places = [(f, lines[f.line]) for f in ran.findings if f.kind == "break" and f.line in lines]
    assert len(places) == 2
    reported = with_cost_per_break(OPTIONS, ran, places)
    costs = [
        f.cost.step_seconds
        for f in reported.findings
        if f.kind == "break" and f.line in lines and f.cost
    ]
    unmeasured = [note for note in reported.run.notes if "alone was not measured" in note]
    assert (MEANING in reported.run.notes) == any(cost is not None for cost in costs)
    assert (
        len([c for c in costs if c is not None])
        + sum(json.dumps(note).count("several.py:") for note in unmeasured)
        == 2
    )
