"""The reader on real traces of torch 2.6 to 2.15: the same two programs, six dialects."""

from pathlib import Path

import pytest

from breakscope.dynamic.observations.ownership import Places
from breakscope.dynamic.observations.reader import read_records
from breakscope.dynamic.trace.records import read_trace_file
from breakscope.dynamic.trace.text_log import read_log

GOLDEN = Path(__file__).parents[1] / "golden"
VERSIONS = ("2.6.0", "2.8.0", "2.9.1", "2.11.0", "2.13.0", "2.15.0")
PLACES = Places(torch="/site-packages/torch", python=("/stdlib",), own="/nowhere")
TYPES = {  # of torch's registry, for dialects that name no id
    "Failed to trace builtin operator": "GB0059",
    "Data-dependent branching": "GB0170",
    "Unsupported Tensor.item() call with capture_scalar_outputs=False": "GB0124",
    "Unsupported context manager": "GB0142",
    "Attempted to wrap RNN, GRU, or LSTM": "GB0014",
}


def observe(trace, script, folder, log=None):
    """Read a golden trace as if its project lay beside it, so that the reader finds the source."""
    (folder / "script.py").write_text((GOLDEN / script).read_text())
    text = (GOLDEN / trace).read_text().replace("/project/", f"{folder}/")
    (folder / "trace.log").write_text(text)
    messages = []
    if log:
        (folder / "log.txt").write_text(
            (GOLDEN / log).read_text().replace("/project/", f"{folder}/")
        )
        messages = list(read_log(folder / "log.txt"))
    return read_records(list(read_trace_file(folder / "trace.log")), messages, PLACES, TYPES)


def sites(seen):
    return [(b.site.line, b.site.function, b.reason.gb_id, b.skipped) for b in seen.breaks]


@pytest.mark.parametrize("version", VERSIONS)
def test_breaks(version, tmp_path):
    seen = observe(f"{version}.log", "script.py", tmp_path)
    assert sites(seen) == [
        (12, "forward", "GB0059", ""),
        (13, "forward", "GB0124", ""),
        (15, "forward", "GB0170", ""),
        (23, "noisy_loop", "GB0059", "loop"),
    ]
    assert all(b.count == 1 for b in seen.breaks)
    assert [(f.function, f.line, f.why) for f in seen.skipped_frames] == [
        ("noisy_loop", 20, "loop")
    ]


@pytest.mark.parametrize("version", VERSIONS)
def test_recompile(version, tmp_path):
    (recompile,) = observe(f"{version}.log", "script.py", tmp_path).recompiles
    assert (recompile.frame.function, recompile.frame.compile_id, recompile.frame.line) == (
        "scaled",
        "6/1",
        31,
    )
    assert (recompile.guard.family, recompile.guard.name) == ("int_argument", "k")
    assert recompile.site.line == (31 if version in ("2.6.0", "2.8.0") else 32), (
        "the guard's own line from 2.9"
    )


@pytest.mark.parametrize("version", VERSIONS)
def test_graphs(version, tmp_path):
    seen = observe(f"{version}.log", "script.py", tmp_path)
    assert [(g.function, g.ops, g.op_names) for g in seen.graphs][:3] == [
        ("forward", 1, ("linear",)),
        ("forward", 2, ("abs", "max")),
        ("forward", 3, ("truediv", "sum", "gt")),
    ]
    assert all(graph.ops == len(graph.op_names) for graph in seen.graphs)
    assert 0.1 < seen.compile_seconds < 10
    assert {(Path(path).name, line) for path, line in seen.resume_seconds} >= {
        ("script.py", 12),
        ("script.py", 13),
    }


@pytest.mark.parametrize(
    "trace",
    [f"{v}_skip.log" for v in VERSIONS]
    + ["2.8.0_skip_with_torch_logs.log", "2.9.1_skip_with_torch_logs.log"],
)
def test_frames_that_cannot_be_resumed(trace, tmp_path):
    seen = observe(trace, "skip_script.py", tmp_path)
    # 2.15 resumes behind an RNN
    rnn = ("GB0148", "") if trace.startswith("2.15") else ("GB0014", "skipped")
    assert sites(seen) == [(10, "use_rnn", *rnn), (16, "locked", "GB0142", "with")]
    lost = [("use_rnn", "skipped")] if rnn[1] else []
    assert [(f.function, f.why) for f in seen.skipped_frames] == [*lost, ("locked", "with")]


@pytest.mark.parametrize("version", ["2.9.1", "2.13.0"])
def test_text_log_alone(version, tmp_path):
    """The third source: when the structured trace is missing, the log still names every site."""
    (tmp_path / "script.py").write_text((GOLDEN / "script.py").read_text())
    (tmp_path / "log.txt").write_text(
        (GOLDEN / f"{version}.stderr.txt").read_text().replace("/project/", f"{tmp_path}/")
    )
    seen = read_records([], list(read_log(tmp_path / "log.txt")), PLACES, TYPES)
    assert [b.site.line for b in seen.breaks] == [12, 13, 15, 23]


@pytest.mark.parametrize("version", ["2.9.1", "2.13.0"])
def test_log_beside_trace_adds_nothing(version, tmp_path):
    seen = observe(f"{version}.log", "script.py", tmp_path, log=f"{version}.stderr.txt")
    assert [(b.site.line, b.count) for b in seen.breaks] == [(12, 1), (13, 1), (15, 1), (23, 1)]


def test_columns_come_from_carets(tmp_path):
    seen = observe("2.13.0.log", "script.py", tmp_path)
    assert [(b.site.column, b.site.end_column) for b in seen.breaks][1:3] == [(9, 29), (4, 16)]


@pytest.mark.parametrize("keep", [0.1, 0.35, 0.6, 0.85])
def test_truncated_trace(keep, tmp_path):
    """A trace cut off anywhere gives a prefix of the breaks, never an error."""
    whole = (GOLDEN / "2.13.0.log").read_text()
    (tmp_path / "trace.log").write_text(whole[: int(len(whole) * keep)])
    seen = read_records(list(read_trace_file(tmp_path / "trace.log")), [], PLACES, TYPES)
    lines = [b.site.line for b in seen.breaks]
    assert lines == [12, 13, 15, 23][: len(lines)]
    assert len(lines) >= 1


def test_garbage_in_trace(tmp_path):
    """Bytes that are no text, headers that are no JSON and JSON that is no header are passed over."""
    lines = (GOLDEN / "2.13.0.log").read_bytes().splitlines(keepends=True)
    garbage = [
        b"\xff\xfe\x00 binary\n",
        b'V1120 09:49:48.729000 1 torch/x.py:1] {"artifact": \n',
        b"[]\n",
        b"\n",
        b'V1120 09:49:48.729000 1 torch/x.py:1] {"str": 3}\n',
        b"V1120 09:49:48.729000 1 torch/x.py:1] {}\n",
    ]
    records = [i for i, line in enumerate(lines) if not line.startswith(b"\t")]
    for number, position in enumerate(reversed(records)):
        lines.insert(position, garbage[number % len(garbage)])
    (tmp_path / "trace.log").write_bytes(b"".join(lines))
    seen = read_records(list(read_trace_file(tmp_path / "trace.log")), [], PLACES, TYPES)
    assert [b.site.line for b in seen.breaks] == [12, 13, 15, 23]
    assert len(seen.recompiles) == 1


def test_missing_trace(tmp_path):
    assert list(read_trace_file(tmp_path / "nothing.log")) == []
