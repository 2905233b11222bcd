"""The radar: each kind of hazard is listed with its guard, line and fix; a steady model has no
finding."""

from __future__ import annotations

from dataclasses import replace

import pytest
from msgspec import structs
from on_demand import OnDemand
from running import TARGETS

from breakscope.dynamic import RunOptions, RunResult
from breakscope.dynamic.modes.radar import with_radar
from breakscope.dynamic.observations.facts import FrameCompile, RecompileSeen
from breakscope.dynamic.observations.guards.families import read_guard
from breakscope.dynamic.observations.ownership import Places
from breakscope.dynamic.observations.recompiles import by_families
from breakscope.report.formats import RenderOptions, render
from breakscope.report.model import Report, Run
from breakscope.report.run_modes import Hazard, Radar, Variation

torch = pytest.importorskip("torch")
FILE = TARGETS / "varied.py"
RUN = Run(
    target="varied.py::f",
    status="ok",
    device="cpu",
    backend="eager",
    torch_version="",
    python_version="",
    calls=3,
    backward=True,
)


def line_of(text: str) -> int:
    return next(n for n, line in enumerate(FILE.read_text().splitlines(), 1) if text in line)


@pytest.fixture(scope="module")
def results():
    def run(name):
        options = RunOptions(file=str(FILE), name=name, device="cpu", timeout=200.0)
        return with_radar(options, RunResult(findings=(), run=RUN))

    return OnDemand(("steady", "counter", "tokens", "double", "scaled"), run)


def varied(result: RunResult, name: str) -> Variation:
    assert result.run.radar.note == ""
    return next(v for v in result.run.radar.variations if v.name == name)


def test_a_steady_model_has_no_finding_and_every_variation_settles(results):
    result = results["steady"]
    assert result.findings == ()
    outcomes = {v.name: (v.outcome, v.recompiles) for v in result.run.radar.variations}
    assert outcomes == {
        "repeated steps": ("none", 0),
        "batch": ("settles", 1),
        "batch of 1": ("settles", 1),
        "dtype": ("left out", 0),
        "autocast": ("settles", 1),
        "grad mode": ("settles", 2),
        "requires_grad of the arguments": ("settles", 1),
        "train/eval": ("none", 0),
    }
    assert (result.run.radar.batch, result.run.radar.sequence) == ("dimension 0 of `x` (4)", "")


def test_what_the_model_refuses_is_named_and_left_out(results):
    refused = varied(results["steady"], "dtype").reason
    assert refused.startswith("bfloat16, float16, float64: RuntimeError: ") and "dtype" in refused
    longer = varied(results["tokens"], "sequence")
    assert "24" in longer.reason and longer.reason.endswith("ValueError: at most 16 tokens")
    assert longer.outcome == "settles" and "24" not in longer.steps


def test_a_hazard_in_plain_words_with_line_guard_cost_and_fix(results):
    (hazard,) = varied(results["steady"], "batch").hazards
    assert (hazard.path.rpartition("/")[2], hazard.line) == (
        "varied.py",
        line_of("def forward(self, x)"),
    )
    assert (hazard.family, hazard.recompiles, hazard.message) == (
        "size",
        1,
        "dimension 0 of `x` was 4 and is 3 now",
    )
    assert (
        "size mismatch at index 0. expected 4, actual 3" in hazard.guard
        and hazard.compile_seconds > 0
    )
    assert hazard.help.startswith("`torch._dynamo.mark_dynamic(x, 0)`")
    (one,) = varied(results["steady"], "batch of 1").hazards
    assert one.help.startswith("a size of 1 is always compiled by itself")


def test_repeated_steps(results):
    result = results["counter"]
    same = varied(result, "repeated steps")
    assert (same.outcome, [(h.line, h.family) for h in same.hazards]) == (
        "limit",
        [(line_of("# counts"), "attribute")],
    )
    (finding,) = result.findings
    assert (finding.line, finding.dynamo, finding.count) == (
        line_of("# counts"),
        ("attribute",),
        same.recompiles,
    )
    assert finding.message.endswith("; seen when the same call was repeated")


def test_a_counter_hides_no_other_hazard(results):
    result = results["counter"]
    assert {
        v.name: (v.outcome, [h.family for h in v.hazards])
        for v in result.run.radar.variations
        if v.name in ("batch", "batch of 1", "autocast", "train/eval")
    } == {
        "batch": ("settles", ["size"]),
        "batch of 1": ("settles", ["size"]),
        "autocast": ("settles", ["autocast"]),
        "train/eval": ("settles", ["attribute"]),
    }
    (mode,) = varied(result, "train/eval").hazards
    assert "drop.training" in mode.message and mode.help.startswith(
        "one compile for each mode is normal"
    )


def test_what_never_settles_is_a_finding(results):
    result = results["tokens"]
    batch = varied(result, "batch")
    assert batch.outcome == "limit" and batch.recompiles >= 7
    assert batch.hazards[0].help.startswith("the code fixes this size")
    (finding,) = result.findings
    assert (finding.dynamo, finding.count) == (("size",), batch.recompiles)
    assert finding.message.endswith(
        "; seen when the radar varied batch, until `forward` was skipped from here on"
    )
    assert result.run.radar.sequence == "dimension 1 of `tokens` and `mask` (12)"


def test_dtypes(results):
    dtype = varied(results["double"], "dtype")
    assert (dtype.outcome, dtype.recompiles, [h.family for h in dtype.hazards]) == (
        "settles",
        3,
        ["dtype"],
    )
    assert not any(v.name == "train/eval" for v in results["double"].run.radar.variations), (
        "a function has no mode"
    )


def test_nothing_to_look_at_is_noted():
    options = RunOptions(file=str(FILE), name="steady", drive="drive")
    assert (
        "with --drive the file itself decides"
        in with_radar(options, RunResult(findings=(), run=RUN)).run.radar.note
    )
    failed = RunResult(findings=(), run=structs.replace(RUN, status="failed"))
    assert (
        "the run did not end well" in with_radar(replace(options, drive=""), failed).run.radar.note
    )


def dimensions(function, *args, batch_dim=None, sequence_dim=None, **kwargs):
    from breakscope.dynamic.child.radar.dimensions import batch, sequence

    return batch(function, args, kwargs, batch_dim), sequence(
        function, args, kwargs, sequence_dim, batch_dim or 0
    )


def attend(ids, mask=None, bias=None):
    pass


def test_which_dimensions():
    ids, mask, bias = torch.zeros(2, 6, dtype=torch.long), torch.ones(2, 1, 6, 6), torch.ones(6)
    first, second = dimensions(attend, ids, mask, bias=bias)
    assert (first.text, first.places) == ("dimension 0 of `ids` and `mask`", {0: (0,), 1: (0,)})
    assert (second.kind, second.places) == ("sequence", {0: (1,), 1: (2, 3), 2: (0,)})
    (a, b), more = second.resized((ids, mask), {"bias": bias}, 9)
    assert (a.shape, b.shape, more["bias"].shape) == ((2, 9), (2, 1, 9, 9), (9,))
    assert dimensions(attend, torch.ones(4, 3))[1] is None, "features are no sequence"
    images = dimensions(attend, torch.ones(2, 3, 8, 8))[1]
    assert (images.kind, images.text) == ("image size", "dimensions 2 and 3 of `ids`")
    assert dimensions(attend, 3, [1.5]) == (None, None)


def test_dimensions_may_be_given():
    first, second = dimensions(
        attend, torch.ones(7, 2, 5), torch.ones(7, 2), batch_dim=1, sequence_dim=0
    )
    assert (first.places, second.places) == ({0: (1,), 1: (1,)}, {0: (0,), 1: (0,)})


def test_marks_and_gradients_stay():
    x = torch.ones(4, 3, requires_grad=True)
    torch._dynamo.mark_dynamic(x, 0)
    first, _ = dimensions(attend, x)
    ((wider,), _) = first.resized((x,), {}, 6)
    assert (wider.shape, wider.requires_grad, wider.is_leaf, wider._dynamo_dynamic_indices) == (
        (6, 3),
        True,
        True,
        {0},
    )


HAZARD = Hazard(
    path="m.py",
    line=7,
    function="forward",
    family="size",
    message="dimension 0 of `x` was 4 and is 3 now",
    guard="",
    help="pad to a few fixed sizes",
    compile_seconds=0.5,
)
SHOWN = Radar(
    batch="dimension 0 of `x` (4)",
    sequence="",
    variations=(
        Variation(
            name="repeated steps",
            base="the same call",
            outcome="none",
            steps=("the same call",) * 3,
        ),
        Variation(
            name="batch",
            base="4",
            outcome="settles",
            steps=("3", "2"),
            recompiles=1,
            compile_seconds=0.5,
            hazards=(HAZARD,),
        ),
        Variation(
            name="dtype", base="float32", outcome="left out", reason="float64: RuntimeError: no"
        ),
    ),
)


def test_as_text():
    text = render(
        Report(version="", torch="", run=structs.replace(RUN, capture_checked=True, radar=SHOWN)),
        "text",
        RenderOptions(),
    )
    assert text.splitlines()[:6] == [
        "radar: what is compiled again when calls vary, each from a fresh Dynamo on; batch is dimension 0 of `x` (4), "
        "no sequence was found",
        "  repeated steps: 4 times: nothing is compiled again",
        "  batch: 4 -> 3 -> 2: 1 recompile, 500 ms, then it settles",
        "      m.py:7: `forward`: dimension 0 of `x` was 4 and is 3 now",
        "      = help: pad to a few fixed sizes",
        "  dtype: left out, float64: RuntimeError: no",
    ]


def test_one_guard_in_several_places_is_told_once_and_so_is_a_fix():
    def hazard(line, message):
        return structs.replace(HAZARD, line=line, message=message, compile_seconds=0.1)

    varied = Variation(
        name="autocast",
        base="off",
        outcome="settles",
        steps=("on",),
        recompiles=4,
        compile_seconds=0.4,
        hazards=(
            hazard(7, "autocast"),
            hazard(9, "autocast"),
            hazard(11, "autocast"),
            hazard(20, "more"),
        ),
    )
    shown = structs.replace(
        RUN, capture_checked=True, radar=structs.replace(SHOWN, variations=(varied,))
    )
    text = render(Report(version="", torch="", run=shown), "text", RenderOptions())
    assert text.splitlines()[1:5] == [
        "  autocast: off -> on: 4 recompiles, 400 ms, then it settles",
        "      m.py:7: `forward`: autocast (3 recompiles, 300 ms; also lines 9 and 11)",
        "      m.py:20: `forward`: more (1 recompile, 100 ms)",
        "      = help: pad to a few fixed sizes",
    ]


@pytest.mark.parametrize("width", [40, 80, 140])
def test_no_line_is_wider_than_the_terminal(width):
    report = Report(
        version="", torch="", run=structs.replace(RUN, capture_checked=True, radar=SHOWN)
    )
    assert all(
        len(line) <= width
        for line in render(report, "text", RenderOptions(width=width)).splitlines()
    )


def test_a_recompile_is_reported_by_the_guard_on_what_was_varied():
    frame = FrameCompile("0/2", "f", "/home/u/m.py", 3)
    reasons = (
        "0/1: self.kept is None",
        "0/0: tensor 'x' size mismatch at index 0. expected 4, actual 3",
    )
    seen = RecompileSeen(frame, read_guard(reasons[0]), None, reasons)
    places = Places("", (), "")
    assert by_families(seen, ("size",), {}, places).guard.name == "x"
    assert by_families(seen, ("dtype",), {}, places) is seen


def test_numbers_truth_values_and_texts_among_the_arguments(results):
    result = results["scaled"]
    seen = {v.name: v for v in result.run.radar.variations if v.name.startswith("argument ")}
    flip, keep, kind, scale = (
        seen[f"argument `options['{name}']`"] for name in ("flip", "keep", "kind", "scale")
    )
    assert (flip.base, flip.steps, flip.outcome, flip.recompiles) == (
        "False",
        ("True", "False", "True"),
        "settles",
        1,
    )
    assert [h.family for h in flip.hazards] == ["bool_argument"]
    assert (keep.base, keep.outcome, [h.family for h in keep.hazards]) == (
        "3",
        "settles",
        ["int_argument"],
    )
    assert keep.steps[:2] == ("4", "5") and keep.hazards[0].help
    assert (kind.outcome, kind.reason) == ("left out", "'mean_': ValueError: mean or sum")
    assert (scale.base, scale.outcome, [h.family for h in scale.hazards]) == (
        "0.5",
        "settles",
        ["float_argument"],
    )
    assert result.findings == ()
