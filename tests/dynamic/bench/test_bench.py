"""Benchmarks of small models in real worker processes: what is reported, not how fast anything is."""

from pathlib import Path

import pytest
from on_demand import OnDemand
from running import TARGETS

from breakscope.dynamic.bench.options import BenchOptions
from breakscope.dynamic.bench.run import bench_target
from breakscope.errors import UserError
from breakscope.report.bench_text import render

pytest.importorskip("torch")


WANTED = {
    "broken": {"modes": ("default", "reduce-overhead")},
    "fixed": {"calls": "two_sizes"},
    "differs": {"backward": False, "estimate": False, "coverage": False},
    "leaves": {"estimate": False, "coverage": False},
    "fails": {},
    "hangs": {"timeout": 6.0},
    "fixed_again": {
        "name": "fixed",
        "modes": ("dynamic", "default"),
        "backend": "never_ends_on_symbols",
        "mode_timeout": 25.0,
        "estimate": False,
        "coverage": False,
    },
}


@pytest.fixture(scope="module")
def measured():
    def measure(name):
        given = (
            {"backend": "eager", "device": "cpu", "rounds": 6, "timeout": 120.0}
            | {"name": name}
            | WANTED[name]
        )
        return bench_target(BenchOptions(file=str(TARGETS / "costs.py"), **given))

    return OnDemand(WANTED, measure)


@pytest.fixture
def broken(measured):
    return measured["broken"]


@pytest.fixture
def eager_and_default(broken):
    return broken.modes[0], broken.modes[1]


def test_every_mode_is_reported(broken):
    assert [(m.name, m.status) for m in broken.modes] == [
        ("eager", "ok"),
        ("default", "ok"),
        ("reduce-overhead", "not measured"),
    ]
    assert "mode of inductor" in broken.modes[2].problem
    assert broken.backward and broken.device == "cpu" and broken.verdict and broken.errors == ()


def test_steps_are_measured_in_as_many_rounds_for_each(eager_and_default):
    eager, default = eager_and_default
    assert (
        eager.steps.rounds == default.steps.rounds == 6 and eager.steps.steps == default.steps.steps
    )
    assert 0 < default.steps.median_seconds <= default.steps.p95_seconds
    assert eager.steps.ratio is None and default.steps.ratio_interval.low <= default.steps.ratio
    assert default.warm_up_steps >= 6 and default.compile_seconds > 0


def test_compilation_is_charged(eager_and_default):
    charges = {(c.to, c.family): c for c in eager_and_default[1].charges}
    assert {("first compile", ""), ("fragments", ""), ("restarts", "")} <= charges.keys()
    assert charges["recompile", "attribute"].compiles >= 1  # self.calls changes twice, then stays
    assert 0 < eager_and_default[1].attributed <= 1


def test_outputs_and_gradients_are_compared(eager_and_default):
    default = eager_and_default[1]
    assert default.outputs.status == default.gradients.status == "equal"
    assert default.outputs.max_absolute == 0 and default.gradients.tensors == 4


def test_what_lies_outside_of_graphs_is_known(broken):
    coverage = broken.coverage
    assert 0 < coverage.share < 1 and 0 < coverage.ops_share < 1
    assert "aten::bincount" in coverage.eager_top and "aten::linear" not in coverage.eager_top


def test_the_break_is_named_and_its_cost_measured_or_not_claimed(broken):
    assert [(Path(s.path).name, s.lost) for s in broken.saving.sites] == [("costs.py", False)]
    assert (broken.saving.seconds is None) == bool(broken.saving.problem)


def test_a_model_without_breaks_is_all_compiled(measured):
    found = measured["fixed"]
    assert found.saving is None and found.coverage.share == 1.0 and found.coverage.eager_ops == 0
    families = {c.family for c in found.modes[1].charges if c.to == "recompile"}
    assert families == {"size"}


def test_a_mode_that_gives_other_values_is_not_recommended(measured):
    found = measured["differs"]
    assert (
        found.modes[1].outputs.status == "different" and found.modes[1].outputs.detail == "output 0"
    )
    assert found.use == "eager" and not found.backward and found.coverage is None


def test_a_target_that_fails_has_no_figures(measured):
    found = measured["fails"]
    assert (
        "no weights" in found.errors[0].message
        and found.modes == ()
        and found.verdict.startswith("No mode")
    )


def test_a_mode_that_ends_its_process_leaves_the_others(measured):
    found = measured["leaves"]
    assert found.modes[0].steps is not None and found.modes[1].status == "failed"
    assert (
        "exit code 3" in found.errors[0].message
        and found.use == ""
        and "did not run" in found.verdict
    )


@pytest.mark.nightly
def test_a_time_limit_ends_everything(measured):
    found = measured["hangs"]
    assert "6 s" in found.errors[0].message and found.modes == ()


@pytest.mark.nightly
def test_a_mode_that_does_not_end_has_a_row_and_the_others_are_measured(measured):
    found = measured["fixed_again"]
    assert [(mode.name, mode.status) for mode in found.modes] == [
        ("eager", "ok"),
        ("dynamic", "timeout"),
        ("default", "ok"),
    ]
    dynamic = found.modes[1]
    assert 24 < dynamic.limit_seconds < 60 and "did not end compiling" in dynamic.problem
    assert f"not ended in {dynamic.limit_seconds:.0f} s" in render(found, 100, color=False)
    assert found.modes[2].steps is not None and found.errors == ()


def test_no_compiler_no_inductor(monkeypatch):
    from breakscope.dynamic.bench.run import _with_compiler

    monkeypatch.setenv("CXX", "no-such-compiler")
    options, notes = _with_compiler(BenchOptions(file="m.py", name="make"))
    assert (
        options.backend == "aot_eager" and "there is no C++ compiler (no-such-compiler)" in notes[0]
    )


def test_a_file_that_is_not_there():
    with pytest.raises(UserError, match=r"no such file or folder: absent\.py"):
        bench_target(BenchOptions(file="absent.py", name="make"))
