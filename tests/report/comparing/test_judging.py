"""Budgets: what is allowed, and whether a report keeps it."""

import msgspec
import pytest
from facts import CONFIRMED, RUN, finding, report

from breakscope.report.comparing.budget import After, Allowed, read_after, read_percent
from breakscope.report.comparing.judging import judged
from breakscope.report.model import Graph, Recompile, SkippedFrame


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("3", After(3)),
        ("0", After(0)),
        ("3:1", After(3, most=1)),
        ("60s", After(60, in_seconds=True)),
        (" 60s:2", After(60, True, 2)),
    ],
)
def test_steps(text, after):
    assert read_after(text) == after


@pytest.mark.parametrize("text", ["", "x", "-1", "3:", ":1", "3.5", "1m"])
def test_no_steps(text):
    with pytest.raises(ValueError, match="is no step; write 3"):
        read_after(text)


def test_percentages():
    assert [read_percent(t) for t in ("0", "80", "99.5%", "100 %")] == [0, 80, 99.5, 100]


@pytest.mark.parametrize(
    ("text", "words"),
    [("101", "is no percentage"), ("x", "is no percentage"), ("0.8", "write 80 for a share")],
)
def test_no_percentages(text, words):
    with pytest.raises(ValueError, match=words):
        read_percent(text)


def recompile(**changes):
    return msgspec.structs.replace(
        Recompile(compile_id="0/1", function="f", path="m.py", line=1, family="size", guard="g"),
        **changes,
    )


def run(**changes):
    return msgspec.structs.replace(RUN, **changes)


# what the run varies itself does not count
SEEN = run(recompiles=(recompile(call=2), recompile(call=4), recompile(call=4, varied=True)))
TRACED = run(recompiles=(recompile(after_seconds=3.0), recompile(after_seconds=70.0)))


@pytest.mark.parametrize(
    ("allowed", "kept", "what"),
    [
        (Allowed(breaks=1), True, "1 break, 1 allowed"),
        (Allowed(breaks=0), False, "1 break, 0 allowed"),
        (Allowed(recompiles=After(4)), True, "0 recompiles after call 4, 0 allowed"),
        (Allowed(recompiles=After(2)), False, "1 recompile after call 2, 0 allowed"),
        (Allowed(recompiles=After(2, most=1)), True, "1 recompile after call 2, 1 allowed"),
        (Allowed(recompiles=After(0, most=1)), False, "2 recompiles after call 0, 1 allowed"),
        (Allowed(coverage=62), True, "62% of op time compiled, 62% wanted"),
        (Allowed(coverage=62.5), False, "62% of op time compiled, 62.5% wanted"),
    ],
)
def test_budgets_of_a_run(allowed, kept, what):
    # what the run did not reach is no break that it saw
    (budget,) = judged(report(CONFIRMED, finding(line=80), run=SEEN), allowed).budgets
    assert (budget.kept, budget.what) == (kept, what)


def test_of_source_alone_what_is_predicted_counts():
    (budget,) = judged(report(finding(), finding(line=80)), Allowed(breaks=1)).budgets
    assert (budget.found, budget.kept) == (2, False)


def test_seconds_of_a_traced_program():
    allowed = Allowed(recompiles=After(60, in_seconds=True))
    (budget,) = judged(report(run=TRACED), allowed).budgets
    assert (budget.found, budget.what) == (1, "1 recompile after 60 s, 0 allowed")


def test_a_trace_counts_functions():
    traced = run(
        share_compiled=None,
        graphs=tuple(
            Graph(compile_id="0/0", function=name, path="m.py", line=1, ops=1) for name in "abca"
        ),
        lost_frames=(SkippedFrame(function="c", path="m.py", line=3, why="loop"),),
    )
    (budget,) = judged(report(run=traced), Allowed(coverage=70)).budgets
    assert budget.what == "67% of functions that Dynamo met compiled, 70% wanted"


@pytest.mark.parametrize(
    ("found", "allowed", "words"),
    [
        (report(), {"recompiles": After(3)}, "--max-recompiles-after: the report holds no run"),
        (
            report(run=TRACED),
            {"recompiles": After(3)},
            "--max-recompiles-after: a traced program has no calls that could be counted; write seconds, such as 3s",
        ),
        (
            report(run=SEEN),
            {"recompiles": After(3, True)},
            "--max-recompiles-after: the trace does not say when its recompiles were",
        ),
        (
            report(run=run(share_compiled=None, graphs=(), lost_frames=())),
            {"coverage": 50},
            "--min-coverage: the share that runs compiled was not measured",
        ),
    ],
)
def test_what_a_report_cannot_answer(found, allowed, words):
    name = words.partition(":")[0].removeprefix("--")
    asked = judged(found, Allowed(**allowed, required=frozenset({name})))
    assert [error.message for error in asked.errors] == [words] and asked.budgets == ()
    configured = judged(found, Allowed(**allowed))
    assert configured.errors == () and configured.budgets == ()
    assert configured.notes[-1].startswith(f"the budget {name} says nothing here: ")


def test_the_command_line_wins():
    given = Allowed(breaks=3, required=frozenset({"max-breaks"}))
    both = given.or_else(Allowed(breaks=0, coverage=90))
    assert (both.breaks, both.coverage, both.required) == (3, 90, {"max-breaks"})
