"""Predictions and observations meet on statements."""

from textwrap import dedent

import pytest
from facts import finding

from breakscope.report.combining.join import join_findings
from breakscope.report.model import Cost, Inside, Link, SkippedFrame

SOURCE = dedent("""\
    def forward(x):
        if x.sum() > 0:
            x = x * 2
        y = combine(
            x.item(),
            x.max().item(),
        )
        for row in x:
            y = y + int(row)
        return helper(x,
                      y)
""")


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(SOURCE)
    return str(path)


@pytest.fixture
def predicted(program):
    return lambda line, **more: finding(path=program, line=line, function="forward", **more)


@pytest.fixture
def observed(program):
    def make(line, **more):
        given = {
            "evidence": "observed",
            "code": "BRK901",
            "message": "Dynamo's words",
            "help": "",
            "count": 1,
            "reason": "why",
        }
        return finding(path=program, line=line, function="forward", **(given | more))

    return make


def test_same_line_is_one_confirmed_finding_with_the_best_of_both(predicted, observed, program):
    prediction = predicted(2, dynamo=("GB0170",), confidence="likely")
    observation = observed(
        2, dynamo=("GB0170",), count=3, cost=Cost(step_seconds=0.5), lost="loop", guard="g"
    )
    result = join_findings([prediction], [observation], {program: {2}})
    (joined,) = result.findings
    assert (joined.evidence, joined.confidence, joined.count, joined.reason) == (
        "confirmed",
        "certain",
        3,
        "why",
    )
    assert (joined.message, joined.help, joined.code) == (
        prediction.message,
        prediction.help,
        prediction.code,
    )
    assert (joined.cost, joined.lost, joined.guard) == (Cost(step_seconds=0.5), "loop", "g")
    assert (result.missed, result.refuted) == (0, 0)


def test_a_statement_of_several_lines_is_one_place(predicted, observed):
    result = join_findings([predicted(6)], [observed(4)], {})
    # where Dynamo reports it
    assert [(f.line, f.evidence) for f in result.findings] == [(4, "confirmed")]


def test_a_compound_statement_is_its_header_only(predicted, observed, program):
    result = join_findings([predicted(8)], [observed(9)], {program: {8, 9}})
    assert [(f.line, f.evidence) for f in result.findings] == [(8, "refuted"), (9, "observed")]
    assert (result.missed, result.refuted) == (1, 1)


def test_agreeing_ids_win_over_nearness(predicted, observed):
    near, right = (
        predicted(5, dynamo=("GB0170",), column=1),
        predicted(6, dynamo=("GB0124",), column=2),
    )
    result = join_findings([near, right], [observed(5, dynamo=("GB0124",))], {})
    assert {(f.dynamo, f.line, f.evidence) for f in result.findings} == {
        (("GB0170",), 5, "predicted"),
        (("GB0124",), 5, "confirmed"),
    }


def test_several_observations_of_one_problem_are_added_up(predicted, observed):
    seen = [observed(5, dynamo=("GB0124",), count=2), observed(6, dynamo=("GB0124",), count=3)]
    result = join_findings([predicted(4, dynamo=("GB0124",))], seen, {})
    (joined,) = result.findings
    assert (joined.count, joined.evidence) == (5, "confirmed")


def test_a_break_is_hidden_only_when_no_run_saw_it_without_others_gone(predicted, observed):
    hidden = observed(
        5, dynamo=("GB0124",), count=0, behind=(Link(path="m.py", line=1, function="f"),)
    )
    for seen, behind in (([hidden], 1), ([hidden, observed(6, dynamo=("GB0124",), count=3)], 0)):
        (joined,) = join_findings([predicted(4, dynamo=("GB0124",))], seen, {}).findings
        assert (len(joined.behind), joined.evidence) == (behind, "confirmed")


def test_another_problem_at_a_predicted_statement_is_shown_but_not_missed(predicted, observed):
    seen = [observed(2, dynamo=("GB0170",)), observed(2, dynamo=("GB0007",))]
    result = join_findings([predicted(2, dynamo=("GB0170",))], seen, {})
    assert sorted(f.evidence for f in result.findings) == ["confirmed", "observed"]
    assert result.missed == 0


def test_two_observations_on_one_unpredicted_statement_are_one_miss(observed):
    result = join_findings(
        [], [observed(2, dynamo=("GB0170",)), observed(2, dynamo=("GB0007",))], {}
    )
    assert len(result.findings) == 2 and result.missed == 1


@pytest.mark.parametrize(
    ("traced", "evidence"),
    [({10}, "refuted"), ({11}, "refuted"), ({2}, "predicted"), (set(), "predicted")],
)
def test_only_traced_lines_refute(predicted, program, traced, evidence):
    result = join_findings([predicted(10, end_line=11)], [], {program: traced})
    assert [f.evidence for f in result.findings] == [evidence]
    assert result.refuted == (evidence == "refuted")


@pytest.mark.parametrize("kind", ["recompile", "usage", "performance", "error"])
def test_tracing_refutes_breaks_only(predicted, program, kind):
    result = join_findings([predicted(2, kind=kind)], [], {program: {2}})
    assert [f.evidence for f in result.findings] == ["predicted"]


def test_a_break_elsewhere_in_the_statement_refutes_nothing(predicted, observed, program):
    predictions = [predicted(5, dynamo=("GB0124",)), predicted(6, dynamo=("GB0170",))]
    result = join_findings(predictions, [observed(5, dynamo=("GB0124",))], {program: {4, 5, 6}})
    assert [f.evidence for f in result.findings] == ["confirmed", "predicted"]


@pytest.mark.parametrize(("lost_at", "evidence"), [(9, "predicted"), (11, "refuted")])
def test_what_follows_a_skipped_frame_is_not_refuted(predicted, program, lost_at, evidence):
    lost = SkippedFrame(function="forward", path=program, line=lost_at, why="loop")
    result = join_findings([predicted(10)], [], {program: {10}}, [lost])
    assert [f.evidence for f in result.findings] == [evidence]


def test_kinds_do_not_mix(predicted, observed):
    result = join_findings([predicted(2)], [observed(2, kind="recompile")], {})
    assert [f.evidence for f in result.findings] == ["predicted", "observed"]
    assert result.missed == 0  # only breaks are counted as missed


def recompiles(predicted, observed, guard, family="attribute"):
    hazard = predicted(
        3,
        kind="recompile",
        dynamo=("attribute",),
        message="`self.step` changes in every call",
        names=("self.step",),
    )
    seen = [
        observed(8, kind="recompile", dynamo=(family,), guard=g)
        for g in ([guard] if isinstance(guard, str) else guard)
    ]
    return [(f.evidence, f.count) for f in join_findings([hazard], seen, {}).findings]


def test_a_recompile_is_the_same_anywhere_in_its_function_when_the_guard_names_its_subject(
    predicted, observed
):
    assert recompiles(predicted, observed, "self.step == 3") == [("confirmed", 1)]
    assert recompiles(predicted, observed, ["self.step == 3", "self.step == 4"]) == [
        ("confirmed", 2)
    ]
    assert recompiles(predicted, observed, "self.epoch == 3") == [("predicted", 0), ("observed", 1)]
    assert recompiles(predicted, observed, "self.steps == 3") == [("predicted", 0), ("observed", 1)]
    assert recompiles(predicted, observed, "self.step == 3", family="size") == [
        ("predicted", 0),
        ("observed", 1),
    ]


def test_a_layer_s_attribute_is_the_same_in_the_guards_of_the_model_around_it(predicted, observed):
    inside = "self._modules['blocks']._modules['0']."
    separate = [("predicted", 0), ("observed", 1)]
    assert recompiles(predicted, observed, f"{inside}step == 3") == [("confirmed", 1)]
    assert (
        recompiles(predicted, observed, f"tensor '{inside}step[0]' size mismatch at index 2")
        == separate
    )
    assert recompiles(predicted, observed, f"{inside}steps == 3") == separate
    assert recompiles(predicted, observed, f"{inside}state.step == 3") == separate


def test_paths_may_be_absolute_or_relative(predicted, observed, program, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    result = join_findings([finding(path="program.py", line=2)], [observed(2)], {program: {2}})
    assert [(f.path, f.evidence) for f in result.findings] == [("program.py", "confirmed")]


def test_a_file_that_cannot_be_read_joins_by_line():
    gone = finding(path="gone.py", line=2)
    result = join_findings(
        [gone, finding(path="gone.py", line=3)],
        [finding(path="gone.py", line=2, evidence="observed")],
        {},
    )
    assert [f.evidence for f in result.findings] == ["confirmed", "predicted"]


def test_a_prediction_inside_a_library_meets_what_the_run_saw_there(predicted, observed, program):
    """The prediction stands at a line that enters the library; its chain ends at the place that
    Dynamo names."""
    way = (
        Link(path="model.py", line=7, function="Net.forward"),
        Link(path=program, line=2, function="forward"),
    )
    outside = finding(
        path="model.py",
        line=7,
        function="Net.forward",
        library="lib",
        chain=way,
        dynamo=("GB0170",),
        message="`self.net(x)` enters `lib`, where `if x.sum() > 0` reads a tensor's value",
        inside=Inside(message="`if x.sum() > 0` reads a tensor's value", chain=way[1:]),
    )
    (joined,) = join_findings([outside], [observed(2, dynamo=("GB0170",))], {program: {2}}).findings
    assert (joined.path, joined.line, joined.evidence, joined.library) == (
        program,
        2,
        "confirmed",
        "lib",
    )
    assert joined.message == "`if x.sum() > 0` reads a tensor's value" and joined.chain == way[:1]
    assert joined.inside is None

    result = join_findings([outside], [], {program: {2}})
    (refuted,) = result.findings
    assert (refuted.path, refuted.line, refuted.evidence, result.refuted) == (
        "model.py",
        7,
        "refuted",
        1,
    )
    (alone,) = join_findings([outside], [], {}).findings
    assert alone == outside


def test_what_changes_in_another_way_is_a_second_cause(predicted, observed):
    """None in the first call, and growing afterwards: one finding, both causes."""
    hazard = predicted(3, kind="recompile", dynamo=("none_argument", "size"))
    seen = [
        observed(3, kind="recompile", dynamo=(family,), cause=why)
        for family, why in (
            ("none_argument", "`k` was None"),
            ("size", "dimension 1 of `k` changed"),
        )
    ]
    (found,) = join_findings([hazard], seen, {}).findings
    assert (found.count, found.other_causes) == (2, ("dimension 1 of `k` changed",))


def test_the_function_that_is_skipped_is_one_that_a_reader_knows(predicted, observed):
    seen = [
        observed(2, dynamo=("GB0170",), lost="skipped", lost_function="f.<listcomp>"),
        observed(2, dynamo=("GB0170",), lost="rest", lost_function=""),
    ]
    (found,) = join_findings([predicted(2, dynamo=("GB0170",))], seen, {}).findings
    assert (found.lost, found.lost_function) == ("rest", "")
