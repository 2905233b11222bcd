"""run says which share of op time lies inside graphs, and what breaks cost per step, once nothing compiles any more."""

import pytest
from running import TARGETS, run_all

pytest.importorskip("torch")


def test_share_of_a_run():
    file = str(TARGETS / "costs.py")
    found = run_all({name: {"file": file} for name in ("broken", "mended")} | {
        "other backend": {"file": file, "name": "mended", "backend": "aot_eager"}})
    assert found["mended"].run.share_compiled == 1.0
    assert 0 < found["broken"].run.share_compiled < 1
    assert found["other backend"].run.share_compiled is None  # not measured, so not told


@pytest.fixture(scope="module")
def with_code():
    return run_all({name: {"file": str(TARGETS / "costs.py"), "backend": "aot_eager"} for name in ("broken", "mended")})


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
    assert with_code["mended"].run.breaks_cost is None and not with_code["mended"].run.notes
