"""Fake runs with several ranks, with the radar and with --peel."""

from __future__ import annotations

import pytest
from running import TARGETS, break_lines, line_of, run_all

from breakscope.dynamic import FakeOptions, RunOptions
from breakscope.dynamic.modes.full_run import run_fully
from breakscope.report.formats import RenderOptions, render
from breakscope.report.model import Report

pytest.importorskip("torch")
RANKS = "fake_ranks.py"


@pytest.fixture(scope="module")
def first_ranks():
    """Of models that torch wraps; the other ranks do as the first."""
    fields = {"file": str(TARGETS / RANKS), "fake": FakeOptions(world_size=8)}
    return run_all(dict.fromkeys(("ddp", "sharded", "parallel"), fields))


@pytest.mark.parametrize("name", ["ddp", "sharded", "parallel"])
def test_wrapped_models_trace_on_one_machine(first_ranks, name):
    """Break sites as under torchrun: the user's line, and those of the wrapper."""
    result = first_ranks[name]
    assert (result.run.status, result.errors) == ("ok", ())
    assert result.run.backward and result.run.fake.world_size == 8
    users = [f for f in result.findings if f.kind == "break" and f.path.endswith(RANKS)]
    assert [f.line for f in users] == [line_of("# decided", RANKS)]
    of_torch = {f.path.rpartition("/")[2] for f in result.findings if f.kind == "break"} - {RANKS}
    wrappers = {"ddp": {"distributed.py"}, "sharded": {"_fsdp_common.py"}, "parallel": set()}
    assert of_torch == wrappers[name]


def test_what_other_ranks_send_is_assumed(first_ranks):
    assumed = {name: [a.assumed for a in r.run.fake.answers] for name, r in first_ranks.items()}
    assert assumed == {"ddp": [False], "sharded": [True], "parallel": [True]}


@pytest.mark.nightly
def test_ranks_that_differ_are_told():
    file = str(TARGETS / RANKS)
    options = RunOptions(
        file=file, name="by_rank", vary=False, explain=False, fake=FakeOptions(world_size=8)
    )
    result = run_fully(options)
    assert result.run.status == "ok"
    assert break_lines(result) == [line_of("# first", RANKS), line_of("# last", RANKS)]
    assert [process.rank for process in result.run.processes] == [0, 1, 7]
    assert "of 8 fake ranks 0, 1, 7 ran; the others are taken to do as these" in result.run.notes
    assert result.run.divergence is not None
    text = shown(result)
    assert "as one of 8 fake ranks" in text
    assert "what other ranks send is assumed" in text


def shown(result):
    report = Report(
        version="", torch="", findings=result.findings, run=result.run, errors=result.errors
    )
    return render(report, "text", RenderOptions())


@pytest.mark.nightly
def test_the_radar_tells_recompiles_and_no_seconds():
    file = str(TARGETS / "fakes.py")
    result = run_fully(
        RunOptions(
            file=file, name="varied", vary=False, explain=False, radar=True, fake=FakeOptions()
        )
    )
    outcomes = {v.name: (v.outcome, v.recompiles) for v in result.run.radar.variations}
    assert outcomes["repeated steps"][0] == "limit"
    assert outcomes["batch"] == outcomes["batch of 1"] == outcomes["autocast"] == ("settles", 1)
    assert outcomes["dtype"] == ("settles", 3) and outcomes["train/eval"] == ("none", 0)
    assert not any(v.compile_seconds for v in result.run.radar.variations)
    assert "batch: 4 -> 3 -> 2 -> 8 -> 5: 1 recompile, then it settles" in shown(result)


@pytest.mark.nightly
def test_peel_shows_what_a_skipped_function_hides():
    file = str(TARGETS / "fakes.py")
    result = run_fully(
        RunOptions(file=file, name="hides", vary=False, explain=False, peel=8, fake=FakeOptions())
    )
    behind = [f for f in result.findings if f.line == line_of("# behind it", "fakes.py")]
    assert len(behind) == 1 and result.run.peeled is not None
    assert break_lines(result) == [
        line_of("# first break", "fakes.py"),
        line_of("# behind it", "fakes.py"),
    ]
