"""The worst finding and what to do first."""

from facts import RUN, finding, report

from breakscope.report.verdict import verdict


def test_behind_a_recompile_limit_stands_what_is_to_be_changed():
    limit = finding(
        code="BRK952", kind="recompile", evidence="observed", lost="recompile limit", count=1,
        path="m.py", line=3, function="Net.forward", help="fix the recompiles first",
    )  # fmt: skip
    counter = finding(
        code="BRK701", kind="recompile", evidence="confirmed", count=7,
        path="m.py", line=4, function="Net.forward", help="keep the number in a buffer",
    )  # fmt: skip
    elsewhere = finding(
        code="BRK712", kind="recompile", evidence="observed", count=9,
        path="m.py", line=9, function="other", help="pad",
    )  # fmt: skip
    worst, first = verdict(report(counter, limit, elsewhere, run=RUN))
    assert worst.startswith("worst: m.py:3")
    assert first == "first: m.py:4: keep the number in a buffer"
    assert verdict(report(limit, elsewhere, run=RUN))[1] == "first: fix the recompiles first"


def test_one_finding_needs_no_verdict():
    assert verdict(report(finding(evidence="observed"), run=RUN)) == []


def test_a_long_path_leaves_room_for_the_cause():
    path = "/home/someone/projects/vision/models/unet.py"
    seen = [finding(path=path, line=n, evidence="observed", message="why") for n in (3, 9)]
    worst, _ = verdict(report(*seen, run=RUN))
    assert worst.startswith("worst: .../models/unet.py:3") and worst.endswith(": why")
