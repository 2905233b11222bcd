"""The recompile limit: no recompile, and about the part of the frame that it stopped."""

import pytest
from running import TARGETS, line_of, run_all

from breakscope.report.model import Report
from breakscope.report.summary import summary


@pytest.fixture(scope="module")
def result():
    pytest.importorskip("torch")
    runs = run_all({"scaled": {"file": str(TARGETS / "limited.py"), "drive": "drive"}})
    return runs["scaled"]


def test_what_the_limit_refuses_is_no_recompile(result):
    (seen,) = (f for f in result.findings if f.dynamo == ("global",))
    assert seen.count == len(result.run.recompiles) == 7, "eight versions are seven recompiles"
    assert "8" in "".join(seen.values) or "7" in seen.values, "the value that was refused is named"
    text = summary(Report(version="", torch="", findings=result.findings, run=result.run))
    assert "1 recompile (7 events)" in text and "1 frame skipped" in text, text


def test_a_resumed_part_at_its_limit_is_that_part(result):
    line = line_of("between", "limited.py")
    (limit,) = (f for f in result.findings if f.lost == "recompile limit")
    assert limit.line == line
    assert limit.message.startswith(f"what follows line {line} of `scaled` is skipped from here on")
    (frame,) = (f for f in result.run.lost_frames if f.why == "recompile limit")
    assert frame.resumed_at == line
