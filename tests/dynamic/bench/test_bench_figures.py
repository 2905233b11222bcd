"""From fabricated samples to claims: charges, comparisons, the mode to use."""

import random

import msgspec
import pytest
import torch

from breakscope.dynamic.bench.charges import (
    Call,
    Compile,
    break_sites,
    charge,
    compile_wall,
    start_up,
)
from breakscope.dynamic.bench.decide import decide
from breakscope.dynamic.bench.run import _pays_after
from breakscope.dynamic.bench.saving import cost_of_breaks, saved, with_step_cost
from breakscope.dynamic.bench.statistics import (
    compare,
    interval_of,
    noise,
    percentile,
    rank_correlation,
    sign_test,
)
from breakscope.dynamic.bench.turns import block_length, describe
from breakscope.dynamic.child.bench.gpu_busy import busy_seconds, covered
from breakscope.report.bench import Agreement, Coverage, Mode, Saving, Site
from breakscope.report.model import Cost, Finding, Interval


def compile_of(compile_id, begin, seconds, **facts):
    given = {
        "name": "forward",
        "path": "/p/model.py",
        "line": 3,
        "forward": True,
        "before_restart": 0.0,
        "recompile_reason": "",
        "failed": False,
        "fail_reason": "",
        "fail_path": "",
        "fail_line": 0,
    }
    return Compile(compile_id=compile_id, begin=begin, seconds=seconds, **given | facts)


def charged(*compiles, start_up=0.0):
    return {(c.to, c.family): (c.seconds, c.compiles) for c in charge(compiles, start_up)}


def test_every_second_is_charged_once():
    compiles = (
        compile_of("0/0", 0.0, 4.0, before_restart=1.0),
        compile_of("1/0", 5.0, 2.0, name="torch_dynamo_resume_in_forward_at_12"),
        compile_of("1/0", 8.0, 1.0, name="", forward=False),
        compile_of("0/0", 10.0, 3.0, name="", forward=False),
        compile_of("2/0", 14.0, 0.5, failed=True, fail_reason="Failed to trace builtin operator"),
        compile_of(
            "0/1",
            20.0,
            5.0,
            recompile_reason="0/0: tensor 'x' size mismatch at index 0. expected 8, actual 9",
        ),
        compile_of("0/1", 26.0, 2.0, name="", forward=False),
        compile_of("0/2", 30.0, 1.0, recompile_reason="0/0: self.step == 3"),
    )
    assert charged(*compiles, start_up=0.25) == {
        ("start-up", ""): (0.25, 1),
        ("first compile", ""): (6.0, 2),
        ("fragments", ""): (3.0, 2),
        ("recompile", "size"): (7.0, 2),
        ("recompile", "attribute"): (1.0, 1),
        ("restarts", ""): (1.0, 1),
        ("given up", ""): (0.5, 1),
    }
    assert sum(c.seconds for c in charge(compiles, 0.25)) == pytest.approx(
        0.25 + sum(c.seconds for c in compiles)
    )


def test_what_is_made_while_a_graph_runs_is_no_recompile():
    compiles = (
        compile_of("0/0", 0.0, 4.0),
        compile_of("0/1", 5.0, 2.0, recompile_reason="0/0: self.step == 3"),
        *(
            compile_of("0/1", at, seconds, name="", runtime=made)
            for at, seconds, made in (
                (8.0, 0.5, "CUDA graphs"),
                (9.0, 0.25, "CUDA graphs"),
                (9.5, 0.125, "autotuning"),
            )
        ),
    )
    assert charged(*compiles) == {
        ("first compile", ""): (4.0, 1),
        ("recompile", "attribute"): (2.0, 1),
        ("CUDA graphs", ""): (0.75, 2),
        ("autotuning", ""): (0.125, 1),
    }


def test_a_gpu_is_busy_while_any_kernel_runs():
    assert covered([(5.0, 6.0), (0.0, 2.0), (1.0, 3.0), (1.5, 1.75)]) == 4.0
    assert busy_seconds(lambda: None, 1, torch.device("cpu")) is None


def test_a_compile_inside_another_is_not_charged_twice():
    inner = compile_of("1/0", 1.0, 2.0)
    outer = compile_of("0/0", 0.0, 5.0)
    assert charged(inner, outer) == {("first compile", ""): (3.0, 1), ("fragments", ""): (2.0, 1)}


def test_wall_time_of_compiling_leaves_the_steps_themselves_out():
    calls = [Call(5.1, 3), Call(0.1, 0), Call(2.1, 1), Call(0.1, 0), Call(0.1, 0)]
    assert compile_wall(calls, 0.5) == pytest.approx(7.5)
    assert compile_wall([Call(0.1, 0)], 0.0) == 0.0
    assert compile_wall(calls, 0.5, cold_step=1.1) == pytest.approx(6.5)


def test_the_way_into_the_first_compile_is_start_up():
    calls = [Call(5.0, 1, begin=100.0), Call(1.0, 1, begin=105.0)]
    assert start_up(
        calls, [compile_of("0/0", 100.25, 4.0), compile_of("0/1", 105.1, 0.5)], 0.5
    ) == pytest.approx(0.75)
    assert (
        start_up([Call(5.0, 1)], [compile_of("0/0", 100.0, 4.0)], 0.5)
        == start_up([], [], 0.5)
        == 0.5
    )


def test_what_one_graph_saves_is_told_with_an_interval_or_not_at_all():
    nothing = Saving(mode="default", sites=())
    noise = random.Random(3)
    rounds = [
        [1.0 + shared, 0.8 + shared, 1.0 + shared + noise.uniform(-0.1, 0.1)]
        for shared in (noise.uniform(0, 0.02) for _ in range(40))
    ]
    found = saved(nothing, rounds)
    assert (
        found.seconds == pytest.approx(0.2, rel=0.05)
        and found.interval.low <= found.seconds <= found.interval.high
    )
    assert (
        saved(nothing, rounds, 2).seconds is None and "noise" in saved(nothing, rounds, 2).problem
    )
    assert "too few" in saved(nothing, rounds[:5]).problem


def test_break_sites_are_resumed_lines_and_skipped_frames():
    sites = break_sites(
        (
            compile_of("1/0", 0, 1, name="torch_dynamo_resume_in_forward_at_12"),
            compile_of("1/1", 1, 1, name="torch_dynamo_resume_in_forward_at_12"),
            compile_of(
                "2/0",
                2,
                1,
                failed=True,
                fail_reason="Data-dependent",
                fail_path="/p/model.py",
                fail_line=30,
            ),
            compile_of("3/0", 3, 1, failed=True),
        )
    )
    assert [(s.line, s.function, s.lost) for s in sites] == [
        (12, "forward", False),
        (30, "forward", True),
    ]


def test_nothing_is_claimed_when_the_noise_is_larger_than_the_effect():
    noise = random.Random(1)
    eager = [1.0 + noise.uniform(-0.2, 0.2) for _ in range(20)]
    same = [1.01 + noise.uniform(-0.2, 0.2) for _ in range(20)]
    _, interval, verdict = compare(same, eager)
    assert verdict == "no difference measured" and interval.low < 1 < interval.high


def break_at(line):
    return Finding(
        path="m.py",
        line=line,
        column=1,
        end_line=line,
        end_column=2,
        code="BRK401",
        rule="output",
        kind="break",
        severity="error",
        confidence="certain",
        evidence="observed",
        function="f",
        message="",
        cost=Cost(compile_seconds=2.0),
    )


def test_the_cost_per_step_is_the_only_breaks():
    cost = cost_of_breaks([[1.0, 0.75]] * 10)
    assert cost == Cost(step_seconds=0.25, step_interval=Interval(low=0.25, high=0.25))
    other = msgspec.structs.replace(break_at(3), kind="recompile")
    found = with_step_cost([other, break_at(4)], cost)
    assert found[0] == other and found[1].cost == msgspec.structs.replace(cost, compile_seconds=2.0)
    # whose is it?
    assert with_step_cost([break_at(4), break_at(5)], cost) == (break_at(4), break_at(5))
    assert with_step_cost([break_at(4)], cost_of_breaks([[1.0, 1.001]] * 10)) == (break_at(4),)
    assert cost_of_breaks(()) is None


def test_a_difference_as_small_as_between_two_processes_is_none():
    assert compare([1.01] * 20, [1.0] * 20)[2] == "no difference measured"


@pytest.mark.parametrize(("factor", "verdict"), [(0.7, "faster"), (1.4, "slower")])
def test_a_clear_difference_is_reported(factor, verdict):
    noise = random.Random(2)
    # both modes slow down together
    drift = [1.0 + 0.1 * number + noise.uniform(-0.05, 0.05) for number in range(20)]
    found = compare([factor * value for value in drift], drift)
    assert found[2] == verdict and found[1].low <= found[0] <= found[1].high


def test_a_wide_interval_around_no_difference_is_too_noisy_to_tell():
    chance = random.Random(1)
    eager = [1.0 + chance.uniform(-0.7, 0.7) for _ in range(20)]
    same = [1.0 + chance.uniform(-0.7, 0.7) for _ in range(20)]
    _, interval, verdict = compare(same, eager)
    assert verdict == "too noisy to tell" and interval.low < 1 < interval.high


def test_medians_that_contradict_the_ratios_are_too_noisy_to_tell():
    """Each round says 0.8, and the median of all of them 2: the machine changed in between."""
    first = [0.8] * 9 + [8.0] * 11
    second = [1.0] * 9 + [10.0] * 2 + [4.0] * 9
    assert compare(first[:18] + [8.0] * 2, second)[2] == "too noisy to tell"
    assert compare([0.8, 8.0] * 10, [1.0, 10.0] * 10)[2] == "faster"


def test_noise_is_what_a_round_differs_from_the_one_before():
    assert noise([1.0, 1.2, 1.2, 0.6]) == pytest.approx(0.2)
    assert noise([1.0]) is None and noise([]) is None


def test_where_all_is_noise_no_mode_is_chosen():
    eager = mode("eager", 1.0, None)
    eager = msgspec.structs.replace(eager, steps=msgspec.structs.replace(eager.steps, noise=0.31))
    default, dynamic = mode("default", 0.9, 1.0), mode("dynamic", 0.5, 2.0)
    unsure = msgspec.structs.replace(
        default,
        steps=msgspec.structs.replace(
            default.steps,
            verdict="too noisy to tell",
            ratio_interval=Interval(low=0.6, high=1.5),
        ),
    )
    assert decide((eager, unsure), same) == (
        "",
        "No mode can be chosen: the machine is too noisy to tell: rounds of the same eager step differ by 31%, and "
        "default takes 0.60 to 1.50 of eager's time. Stop what else runs here, or give more --rounds.",
    )
    use, sentence = decide((eager, unsure, dynamic), same)
    assert use == "dynamic" and sentence.endswith(" Not measured: default.")


def test_the_medians_shown_give_the_ratio_shown():
    """Of rounds, not of all steps: a long round does not count more than a short one."""
    eager = [[1.0] * 3] * 6 + [[2.0] * 30] * 4
    default = [[0.5] * 3] * 6 + [[1.0] * 30] * 4
    steps = describe(default, eager)
    assert steps.ratio == pytest.approx(steps.median_seconds / describe(eager, None).median_seconds)


def test_few_rounds_allow_no_claim():
    assert compare([0.5] * 5, [1.0] * 5) is None


def test_statistics():
    assert percentile([5, 1, 2, 3, 4], 0.95) == 5 and percentile(list(range(1, 101)), 0.95) == 95
    assert (
        sign_test([1] * 8) == pytest.approx(2 / 256)
        and sign_test([1, -1, 0]) == 1.0
        and sign_test([]) == 1.0
    )
    assert interval_of([2.0] * 9).low == interval_of([2.0] * 9).high == 2.0
    assert rank_correlation([1, 2, 3], [10, 20, 30]) == pytest.approx(1.0)
    assert rank_correlation([1, 2, 3], [3, 2, 1]) == pytest.approx(-1.0)
    assert rank_correlation([1, 2, 2, 4], [1, 2, 3, 4]) == pytest.approx(0.9486832980505138)
    assert rank_correlation([1, 1, 1], [1, 2, 3]) is None
    with pytest.raises(ValueError, match="no values"):
        percentile([], 0.5)


def test_a_block_holds_whole_turns_through_the_calls():
    assert block_length(10.0, 1) == 3 and block_length(1e-6, 1) == 60
    assert block_length(10.0, 4) == 4 and block_length(1e-6, 7) % 7 == 0


def test_modes_that_did_not_end_are_named():
    late = Mode(name="dynamic", meaning="", status="timeout")
    assert decide((EAGER, mode("default", 0.5, 10.0), late), same, ["max-autotune"])[1].endswith(
        " Not measured: dynamic, max-autotune."
    )
    assert decide((EAGER, mode("default", 1.3, 10.0), late), same)[1].endswith(
        " Not measured: dynamic."
    )


def mode(name, factor, compile_seconds, **facts):
    eager = [[1.0, 1.0, 1.0]] * 10
    steps = describe([[factor] * 3] * 10, eager if name != "eager" else None)
    made = Mode(
        name=name, meaning="", status="ok", compile_seconds=compile_seconds, steps=steps, **facts
    )
    return msgspec.structs.replace(made, pays_after_steps=_pays_after(made))


EAGER = mode("eager", 1.0, None)


def same(first, second):
    return "no difference measured"


def test_the_fastest_mode_is_chosen_and_when_it_pays():
    use, sentence = decide(
        (EAGER, mode("default", 0.8, 10.0), mode("max-autotune", 0.5, 30.0)),
        lambda a, b: "slower",
        ["dynamic"],
    )
    assert use == "max-autotune"
    assert (
        "0.50 of eager's time" in sentence
        and "after 60 steps" in sentence
        and sentence.endswith("Not measured: dynamic.")
    )


def test_of_modes_that_cannot_be_told_apart_the_cheapest_is_chosen():
    use, sentence = decide(
        (EAGER, mode("default", 0.51, 10.0), mode("max-autotune", 0.5, 30.0)), same
    )
    assert use == "default" and "max-autotune is not measurably faster" in sentence


def test_compiling_that_does_not_pay():
    assert decide((EAGER, mode("default", 1.3, 10.0)), same) == (
        "eager",
        "Compiling does not pay here: default takes 1.30 of eager's time.",
    )
    use, sentence = decide((EAGER, mode("default", 1.0, 10.0), mode("dynamic", 1.3, 1.0)), same)
    assert (
        use == "eager"
        and sentence == "Compiling does not pay here: no mode is measurably faster than eager."
    )


def test_what_stands_in_the_way_is_reported():
    coverage = Coverage(share=0.3, ops_share=0.5, compiled_ops=5, eager_ops=5)
    saving = Saving(mode="default", sites=(Site(path="m.py", line=3, function="f"),), seconds=0.002)
    sentence = decide((EAGER, mode("default", 1.3, 10.0)), same, (), coverage, saving)[1]
    assert sentence.endswith(
        "Only 30 % of its op time lies inside compiled graphs. Without its break a step would take 2 ms less."
    )
    sentence = decide(
        (EAGER, mode("default", 1.3, 10.0)), same, (), msgspec.structs.replace(coverage, share=1.0)
    )[1]
    assert sentence == "Compiling does not pay here: default takes 1.30 of eager's time."


def test_a_mode_that_gives_other_values_is_not_recommended():
    wrong = Agreement(status="different", detail="output 0")
    use, sentence = decide((EAGER, mode("default", 0.5, 10.0, outputs=wrong)), same)
    assert use == "eager" and "gives other values than eager" in sentence
    use, sentence = decide(
        (EAGER, mode("default", 0.5, 10.0, gradients=wrong), mode("dynamic", 0.7, 5.0)), same
    )
    assert use == "dynamic" and "default gave other values" in sentence


def test_a_mode_that_never_stops_compiling_is_not_recommended():
    use, sentence = decide((EAGER, mode("default", 0.5, 10.0, still_compiling=True)), same)
    assert use == "eager" and "still compiling" in sentence


def test_nothing_is_claimed_of_modes_that_did_not_run():
    failed = Mode(name="default", meaning="", status="failed", problem="it crashed")
    assert decide((EAGER, failed), same) == ("", "No mode can be chosen: default did not run.")
