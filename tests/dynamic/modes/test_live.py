"""A traced program is followed while it writes; a run's child says what it does."""

import json
from pathlib import Path

import pytest

from breakscope import limits
from breakscope.dynamic.modes import live
from breakscope.dynamic.modes.live import Live
from breakscope.dynamic.modes.trace import read_result
from breakscope.dynamic.trace.progress_log import current

GOLDEN = Path(__file__).parents[1] / "golden"
TRACES = sorted(GOLDEN.glob("2.*[0-9].log")) + sorted(GOLDEN.glob("*_skip.log"))


def followed(trace: Path, folder: Path, pieces: int):
    """The looks at a file that grows in pieces, cut anywhere; the last one finds nothing new."""
    whole = trace.read_bytes()
    following = Live(folder, ())
    size = len(whole) // pieces + 1
    with open(folder / "dedicated_log_torch_trace_1.log", "ab", buffering=0) as file:
        for start in range(0, len(whole), size):
            file.write(whole[start : start + size])
            yield following.look()
    yield following.look()
    assert not following.look().lines and not following.failed


@pytest.mark.parametrize("pieces", [1, 7, 61])
@pytest.mark.parametrize("trace", TRACES, ids=lambda path: path.stem)
def test_what_is_listed_is_what_the_report_has(trace, pieces, tmp_path, monkeypatch):
    monkeypatch.setenv("BREAKSCOPE_DEBUG", "1")
    looks = list(followed(trace, tmp_path, pieces))
    lines = [line for look in looks for line in look.lines]
    result = read_result(tmp_path, ())
    places = {(f"{f.path}:{f.line}", f.code) for f in result.findings}
    assert {(line.split(": ")[0], line.split(": ")[1].split()[0]) for line in lines} == places
    assert len(set(lines)) == len(lines)
    assert looks[-1].recompiles >= len(result.run.recompiles)


def test_it_is_listed_as_soon_as_it_is_written(tmp_path):
    looks = list(followed(GOLDEN / "2.13.0.log", tmp_path, 61))
    assert sum(bool(look.lines) for look in looks) > 2


def test_a_long_list_ends(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "MOST_LIVE_LINES", 1)
    looks = list(followed(GOLDEN / "2.13.0.log", tmp_path, 61))
    lines = [line for look in looks for line in look.lines]
    assert len(lines) == 3 and lines[-1] == "further events are only counted"
    assert looks[-1].compiles > 3


def test_a_fault_of_ours_ends_the_list_alone(tmp_path, monkeypatch):
    def fails(*_):
        raise ValueError

    monkeypatch.setattr(live, "read_records", fails)
    monkeypatch.delenv("BREAKSCOPE_DEBUG", raising=False)
    following = Live(tmp_path, ())
    (tmp_path / "a.log").write_bytes((GOLDEN / "2.13.0.log").read_bytes())
    assert following.look().lines == () and following.failed
    assert following.look().compiles > 0


@pytest.mark.parametrize("data", [b"", b"\xff\x00", b"V1124 10:00:00.000000 1 x:1] {"])
def test_garbage_is_nothing(data, tmp_path, monkeypatch):
    monkeypatch.setenv("BREAKSCOPE_DEBUG", "1")
    (tmp_path / "a.log").write_bytes(data)
    following = Live(tmp_path, ())
    assert [following.look().lines for _ in range(3)] == [(), (), ()]


@pytest.mark.parametrize(
    ("notes", "words"),
    [
        ([], ""),
        ([{"event": "stage", "name": "import torch"}], "importing torch"),
        ([{"event": "stage", "name": "capture"}, {"event": "versions"}], "calls under Dynamo"),
        ([{"event": "stage", "name": "capture"}, {"event": "call", "call": 1}], "call 2 under Dynamo"),
        ([{"event": "stage", "name": "explain"}, {"event": "done"}], "timing steps"),
        ([{"event": "stage", "name": "options"}], ""),
        ([{"event": "variation", "name": "batch"}], "varying the calls, batch is done"),
    ],
)  # fmt: skip
def test_what_the_child_does(notes, words, tmp_path):
    file = tmp_path / "progress.jsonl"
    file.write_bytes(
        b'ut in the middle"}\n' + b"".join(json.dumps(n).encode() + b"\n" for n in notes)
    )
    assert current(file) == words
    assert current(tmp_path / "nothing") == ""
