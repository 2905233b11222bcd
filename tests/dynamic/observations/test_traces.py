"""Traces and logs of six torch versions, read as a user would: the same report, and what a version
cannot tell is header."""

import random
from pathlib import Path

import pytest
from mutate import interleave, mutate

from breakscope.dynamic import read_result
from breakscope.dynamic.observations.traces import read_traced
from breakscope.errors import UserError
from breakscope.report.combining.merge import merge
from breakscope.report.formats import RenderOptions, render
from breakscope.report.model import from_json, to_json
from breakscope.workflows.trace import explain

GOLDEN = Path(__file__).parents[1] / "golden"
VERSIONS = ("2.6.0", "2.8.0", "2.9.1", "2.11.0", "2.13.0", "2.15.0")
BREAKS = [(12, "GB0059", ""), (13, "GB0124", ""), (15, "GB0170", ""), (23, "GB0059", "loop")]


@pytest.fixture
def read(tmp_path):
    """Read golden files as if they had been written here; a trace lies in a folder, a log is a
    file."""

    def read_here(name, script="script.py"):
        (tmp_path / "script.py").write_text((GOLDEN / script).read_text())
        text = (GOLDEN / name).read_text().replace("/project/", f"{tmp_path}/")
        path = tmp_path / "traces" / "node" / name if name.endswith(".log") else tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return read_result(tmp_path / "traces" if name.endswith(".log") else path, ())

    return read_here


def breaks(result):
    return [(f.line, f.dynamo[0], f.lost) for f in result.findings if f.kind == "break"]


@pytest.mark.parametrize("version", VERSIONS)
def test_trace(read, version):
    result = read(f"{version}.log")
    assert breaks(result) == BREAKS
    assert all(f.chain == () and f.count == 1 for f in result.findings), (
        "what called the compiled function is no chain"
    )
    (recompile,) = result.run.recompiles
    assert (recompile.function, recompile.line, recompile.family, recompile.guard) == (
        "scaled",
        31,
        "int_argument",
        "k == 2",
    )
    assert [(f.function, f.line, f.why) for f in result.run.lost_frames] == [
        ("noisy_loop", 20, "loop")
    ]
    assert len(result.run.graphs) == 7 and result.run.compile_seconds > 0.1
    (process,) = result.run.processes
    assert (process.rank, process.compiles, process.breaks, process.recompiles) == (None, 8, 4, 1)


@pytest.mark.parametrize(
    ("version", "named", "absent"),
    [
        (
            "2.6.0",
            "",
            [
                "traces up to torch 2.9 do not name it",
                "no callers and no GB ids",
                "the line that a guard is for",
            ],
        ),
        ("2.8.0", "", ["traces up to torch 2.9 do not name it", "the line that a guard is for"]),
        ("2.9.1", "", ["traces up to torch 2.9 do not name it"]),
        ("2.11.0", "2.11.0", []),
        ("2.13.0", "2.13.0", []),
        ("2.15.0", "2.15.0", []),
    ],
)
def test_what_a_version_cannot_tell_is_noted(read, version, named, absent):
    result = read(f"{version}.log")
    assert result.torch_version.partition("+")[0] == named
    assert len(result.run.notes) == len(absent)
    assert all(words in note for words, note in zip(absent, result.run.notes, strict=True))


@pytest.mark.parametrize("version", ["2.6.0", "2.9.1", "2.13.0"])
def test_log(read, version):
    result = read(f"{version}.stderr.txt")
    reported = version == "2.13.0"  # up to 2.9 the text is that of a break that is resumed
    assert breaks(result) == [*BREAKS[:3], BREAKS[3] if reported else (23, "GB0059", "")]
    assert [(f.function, f.line) for f in result.run.lost_frames] == (
        [("noisy_loop", 20)] if reported else []
    )
    assert any("is skipped as a whole" in note for note in result.run.notes) is not reported
    (recompile,) = result.run.recompiles
    assert (recompile.function, recompile.line, recompile.guard) == ("scaled", 31, "k == 2")


@pytest.mark.parametrize("version", ["2.6.0", "2.13.0"])
def test_log_of_frames_that_cannot_be_resumed(read, version):
    result = read(f"{version}_skip.stderr.txt", "skip_script.py")
    assert breaks(result) == [(10, "GB0014", "skipped"), (16, "GB0142", "with")]
    assert [(f.function, f.line, f.why) for f in result.run.lost_frames] == [
        ("use_rnn", 9, "skipped"),
        ("locked", 14, "with"),
    ]


LIMIT = """\
[rank1]:W1120 09:49:34.474000 77 torch/_dynamo/convert_frame.py:1759] [0/8] torch._dynamo hit config.recompile_limit (8)
[rank1]:W1120 09:49:34.474000 77 torch/_dynamo/convert_frame.py:1759] [0/8]    function: 'step' (/project/train.py:7)
[rank1]:W1120 09:49:34.474000 77 torch/_dynamo/convert_frame.py:1759] [0/8]    last reason: 0/7: mode == 'h'
"""


def test_recompile_limit_in_a_log(tmp_path):
    """The one line of a log that torch writes unasked."""
    (tmp_path / "out.txt").write_text(f"epoch 1\n{LIMIT}epoch 2\n")
    result = read_result(tmp_path / "out.txt", ())
    assert [(f.code, f.line, f.lost) for f in result.findings] == [("BRK952", 7, "recompile limit")]
    assert [(p.pid, p.rank) for p in result.run.processes] == [(77, 1)]


def test_compiles_that_were_begun_again(tmp_path):
    """Nothing but the metrics has those that no break explains."""
    header = b'"restart_reasons": ["<class \'torch._dynamo.exc.UnspecializeRestartAnalysis\'>", "Data-dependent branching\\n  Why: x"], '
    before = b'"dynamo_time_before_restart_s": '
    (tmp_path / "trace.log").write_bytes(
        (GOLDEN / "2.13.0.log").read_bytes().replace(before, header + before, 1)
    )
    (restart,) = read_result(tmp_path, ()).run.restarts
    assert (restart.compile_id, restart.function, restart.line) == ("0/0", "forward", 10)
    assert (
        restart.reasons == ("a module changed while it was traced", "Data-dependent branching")
        and restart.seconds > 0.1
    )


def test_several_processes_in_one_file(tmp_path):
    """Forks shared their parent's file before 2.13: compiles of the same number are not one
    compile."""
    trace = (GOLDEN / "2.9.1.log").read_bytes()
    number = trace.split()[2]
    records = trace.replace(b" " + number + b" ", b" 4242 ")
    (tmp_path / "trace.log").write_bytes(trace + records)
    result = read_result(tmp_path, ())
    assert [f.count for f in result.findings] == [2] * 5
    assert sorted(p.pid for p in result.run.processes) == [4242, int(number)]
    assert len({g.compile_id for g in result.run.graphs}) == 14


def test_a_fork_has_the_names_of_its_parent(tmp_path):
    """From 2.13 on it writes a file of its own, in which the names it inherited are not explained
    again."""
    lines = (GOLDEN / "2.13.0.log").read_bytes().split(b"\nV")
    (tmp_path / "a.log").write_bytes(b"\nV".join(lines))
    fork = [line.replace(b"1120 09", b"1120 11", 1) for line in lines if b'{"str": ' not in line]
    (tmp_path / "b.log").write_bytes(b"\nV".join(fork))
    seen = read_traced(tmp_path).seen
    assert len(seen.compiles) == 16 and {
        frame.path for compile in seen.compiles for frame in compile.stack
    }.isdisjoint({""})


@pytest.mark.parametrize("text", ["", "epoch 1\nepoch 2\n", "\x00\x01", "V1120 nothing"])
def test_what_is_no_trace(tmp_path, text):
    (tmp_path / "some.log").write_text(text)
    for path in (tmp_path, tmp_path / "some.log"):
        with pytest.raises(UserError, match="is no report and no trace"):
            read_result(path, ())


# blank lines without end; a path that is too long for a file
@pytest.mark.parametrize("seed", [*range(60), 476, 3355])
def test_damaged(tmp_path, seed):
    """Never a crash; benchmarks/mutated_traces.py does the same ten thousand times."""
    chance = random.Random(seed)
    files = [file for file in sorted(GOLDEN.iterdir()) if file.suffix in (".log", ".txt")]
    (tmp_path / "trace.log").write_bytes(mutate(chance.choice(files).read_bytes(), chance))
    try:
        report = explain(read_result(tmp_path / "trace.log", ()), ())
    except UserError:
        return
    assert from_json(to_json(report)) == report and render(report, "text", RenderOptions(width=80))


@pytest.mark.parametrize("kept", [0.3, 0.6, 0.9])
def test_what_stands_before_the_damage_is_kept(tmp_path, kept):
    data = (GOLDEN / "2.13.0.log").read_bytes()
    whole = int(len(data) * kept)
    found = []
    for end in (
        b"",
        b"\xff\x00" * 5000,
        b"9" * 3_000_000,
        b'\nV1120 09:49:48.729000 1 torch/x.py:1] {"artifact": {"name": ',
    ):
        (tmp_path / "trace.log").write_bytes(data[:whole] + end)
        found.append(breaks(read_result(tmp_path, ())))
    assert found[0] and all(f == found[0] for f in found)


def test_a_log_line_of_a_million_digits(tmp_path):
    """Where a compile's id could begin at every one of them; tried from each, it took hours."""
    (tmp_path / "out.txt").write_text(
        LIMIT + "V1120 09:49:34.474000 77 torch/x.py:1] [" + "9" * 1_000_000 + "\n"
    )
    assert [f.code for f in read_result(tmp_path / "out.txt", ()).findings] == ["BRK952"]


def test_two_writers_in_one_file(tmp_path):
    """Their lines are mixed, so some payloads suffer; every record that is whole is read."""
    data = (GOLDEN / "2.13.0.log").read_bytes()
    (tmp_path / "trace.log").write_bytes(interleave(data, random.Random(3)))
    result = read_result(tmp_path, ())
    assert len(result.run.processes) == 2
    assert {f.line for f in result.findings} >= {12, 13, 15, 23}


def test_folders_of_several_nodes_are_one_program(tmp_path):
    """Ranks are compared across them, whatever folder each node keeps the program in; a fork of a
    rank is not that rank."""
    data = (GOLDEN / "2.13.0.log").read_bytes()
    fork = data.replace(b" " + data.split()[2] + b" ", b" 4242 ").replace(b"V1120 09", b"V1120 11")
    for node, text in (("a", data), ("b", data.replace(b"/project/", b"/elsewhere/"))):
        (tmp_path / node).mkdir()
        (tmp_path / node / f"dedicated_log_torch_trace_rank_{'ab'.index(node)}_x.log").write_bytes(
            text
        )
    (tmp_path / "a" / "dedicated_log_torch_trace_rank_0_y.log").write_bytes(fork[: len(fork) // 2])
    result = read_result(tmp_path / "a", (), [tmp_path / "b"])
    assert [p.rank for p in result.run.processes] == [0, 0, 1] and result.run.divergence is None
    assert len({graph.compile_id for graph in result.run.graphs}) == len(result.run.graphs)
    (tmp_path / "b" / "dedicated_log_torch_trace_rank_1_x.log").write_bytes(data[: len(data) // 2])
    zero, one = read_result(
        tmp_path / "a", (), [tmp_path / "b", tmp_path / "a"]
    ).run.divergence.events
    assert (zero.rank, zero.kind, one.rank, one.kind) == (0, "compile", 1, "nothing")


def test_saved_reports_of_several_nodes(tmp_path):
    saved = []
    for node, pid in (("a", b"70"), ("b", b"80")):
        data = (GOLDEN / "2.13.0.log").read_bytes()
        (tmp_path / node).mkdir()
        (tmp_path / node / "trace.log").write_bytes(
            data.replace(b" " + data.split()[2] + b" ", b" " + pid + b" ")
        )
        saved.append(explain(read_result(tmp_path / node, ()), ()))
    both = merge(saved)
    assert [f.count for f in both.findings] == [2] * 5 and len(both.run.processes) == 2
    assert (len(both.run.graphs), len(both.run.recompiles)) == (14, 2)
    assert [f.count for f in merge([saved[0], saved[0]]).findings] == [1] * 5, (
        "the same run, given twice"
    )
