"""run reports which share of op time lies inside graphs, and what breaks cost per step, once nothing
compiles any more."""

from types import SimpleNamespace

import pytest
from running import TARGETS, run_all

torch = pytest.importorskip("torch")

from breakscope.dynamic.child.bench import coverage
from breakscope.dynamic.child.bench.coverage import GRAPH, profiled, share_out, shortest, timed_ops


def test_share_of_a_run():
    file = str(TARGETS / "costs.py")
    found = run_all(
        {name: {"file": file} for name in ("broken", "fixed")}
        | {"other backend": {"file": file, "name": "fixed", "backend": "aot_eager"}}
    )
    assert found["fixed"].run.share_compiled == 1.0
    assert 0 < found["broken"].run.share_compiled < 1
    assert found["other backend"].run.share_compiled is None  # not measured, so not reported


@pytest.fixture(scope="module")
def with_code():
    return run_all(
        {
            name: {"file": str(TARGETS / "costs.py"), "backend": "aot_eager"}
            for name in ("broken", "fixed")
        }
    )


def test_the_one_break_has_the_cost_of_all_or_none_is_claimed(with_code):
    cost = with_code["broken"].run.breaks_cost
    own = next(f.cost for f in with_code["broken"].findings if f.kind == "break")
    assert with_code["broken"].run.status == "ok" and own.compile_seconds > 0
    assert not [note for note in with_code["broken"].run.notes if "per step" in note]
    if cost is None:
        assert own.step_seconds is None and own.step_interval is None
    else:
        assert (own.step_seconds, own.step_interval) == (cost.step_seconds, cost.step_interval)
        assert cost.step_interval.low <= cost.step_seconds <= cost.step_interval.high


def test_no_break_no_cost(with_code):
    assert with_code["fixed"].run.breaks_cost is None and not with_code["fixed"].run.notes


def test_a_share_behind_the_recompile_limit_is_noted():
    """Three calls compile three times; the calls behind them, whose share is reported, are those of a
    function that is skipped."""
    found = run_all({"counting": {"file": str(TARGETS / "costs.py")}})["counting"]
    assert found.run.share_compiled == 0 and len(found.run.recompiles) == 2
    assert [(frame.function, frame.why) for frame in found.run.lost_frames] == [
        ("forward", "recompile limit")
    ]
    assert "until `forward` was skipped from here on, at the recompile limit" in found.run.notes[0]
    assert {f.code for f in found.findings} == {"BRK701", "BRK952"}


def op(start, seconds, inside, name="aten::add"):
    """An event as torch.profiler gives it."""
    graph = SimpleNamespace(name=GRAPH, cpu_parent=None)
    return SimpleNamespace(
        name=name,
        time_range=SimpleNamespace(start=start),
        cpu_parent=graph if inside else None,
        sequence_nr=-1,
        cpu_time_total=seconds * 1e6,
    )


def test_a_pause_in_one_turn_does_not_count():
    calm = [op(0, 0.002, True), op(1, 0.001, False)]
    paused = [op(0, 0.002, True), op(1, 0.5, False)]
    turns = [timed_ops(events, False) for events in (calm, paused, calm, paused)]
    assert share_out(shortest(turns))["share"] == pytest.approx(2 / 3)
    assert share_out(turns[1])["share"] < 0.01


@pytest.mark.parametrize(
    ("turns", "steady", "share"),
    [
        ([[op(0, 2, True), op(1, 2, False)]] * 4, True, 0.5),
        ([[op(0, 2, True), op(1, 2, False)], [op(0, 1, True), op(1, 9, False)]] * 5, False, None),
        ([[op(0, 2, True), op(1, 2, False)], [op(0, 2, True)]] * 5, False, None),
    ],
)
def test_steady_or_not(monkeypatch, turns, steady, share):
    reported = iter(turns)
    monkeypatch.setattr(
        coverage, "_profiled_once", lambda step, turn, device: timed_ops(next(reported), False)
    )
    found = profiled(lambda: None, 1, torch.device("cpu"))
    assert found["steady"] == steady and (not steady or found["share"] == share)
