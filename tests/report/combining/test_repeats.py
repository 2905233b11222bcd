"""One finding for repeats on a line, and for one call that enters a library."""

from facts import finding

from breakscope.report.combining.repeats import grouped
from breakscope.report.model import Inside, Link


def inside(line: int, **changes):
    place = Link(path="lib/ops.py", line=line, function="op")
    message = f"`x{line}` breaks"
    return finding(
        column=9, library="lib", inside=Inside(message=message, chain=(place,)), **changes
    )


def test_the_same_on_a_line_is_one_finding_that_names_the_others():
    first = finding(column=5, message="the size of `a`", dynamo=("GB1",))
    other = finding(column=20, message="the size of `b`", dynamo=("GB2",))
    (found,) = grouped([other, first])
    assert (found.column, found.also, found.dynamo) == (5, ("the size of `b`",), ("GB1", "GB2"))


def test_the_surest_stays():
    (found,) = grouped([finding(column=5, confidence="likely"), finding(column=20)])
    assert (found.column, found.confidence) == (20, "certain")


def test_other_lines_rules_and_files_have_findings_of_their_own():
    others = [finding(line=42), finding(code="BRK401"), finding(path="b.py"), finding()]
    assert len(grouped(others)) == 4
    assert all(found.also == () for found in grouped(others))


def test_what_a_run_saw_is_counted_by_itself():
    seen = [
        finding(column=5, evidence="confirmed", count=1),
        finding(column=20, evidence="observed"),
    ]
    assert grouped(seen) == tuple(seen)


def test_a_call_that_enters_a_library_has_one_finding():
    (found,) = grouped([inside(7, code="BRK201"), inside(3, code="BRK101")])
    assert found.code == "BRK101"
    assert found.also == ("`x7` breaks (lib/ops.py:7)",)


def test_grouping_again_changes_nothing():
    once = grouped([finding(column=5), finding(column=20), inside(3), inside(7)])
    assert grouped(once) == once
