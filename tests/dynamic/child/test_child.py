"""What the child process does with good and bad targets; every run here is a real one."""

import sys
from pathlib import Path

import pytest
from running import TARGETS, break_lines, line_of, run_all

from breakscope.dynamic import RunOptions, run_target
from breakscope.errors import UserError

pytest.importorskip("torch")
needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="forks and limits of Linux")

RUNS = {
    "clean": {"vary": True, "explain": True},
    "Clean by class": {"name": "Clean", "calls": "two_calls"},
    "instance": {"drive": "drives"},
    "function": {"calls": "function_calls", "explain": True},
    "NoInputs": {},
    "NeedsInputs": {},
    "NeedsSizes": {},
    "nobody": {},
    "Claen": {},
    "gives_a_module_alone": {},
    "gives_a_bare_tensor": {},
    "gives_too_much": {},
    "hides_a_module": {},
    "waits": {},
    "bad calls": {"name": "Clean", "calls": "no_calls"},
    "bad backend": {"name": "clean", "backend": "indoctor"},
    "bad device": {"name": "clean", "device": "gpu"},
    "hangs": {"timeout": 20.0},
    "wants_memory": {"memory": 4 << 30},
    "speaks": {},
    "dies_in_eager": {},
    "raises_in_eager": {},
    "cold": {},
    "optimizer_step": {},
    "backward_breaks": {},
    "fixed_batch": {"vary": True},
    "some_batches": {"vary": True},
    "remembers": {},
    "stacked": {},
    "many_strings": {"calls": "strings"},
    "stops at import": {"file": str(TARGETS / "stops_at_import.py"), "name": "make"},
}


@pytest.fixture(scope="module")
def runs():
    return run_all(RUNS)


def message(result):
    (error,) = result.errors
    assert "\n" not in error.message
    return error.message


def test_clean(runs):
    result = runs["clean"]
    assert (result.findings, result.errors, result.run.status) == ((), (), "ok")
    assert result.run.capture_checked
    assert result.run.backward
    assert result.run.calls == 5, "three with the same inputs, two with other batch sizes"
    assert [r.family for r in result.run.recompiles] == ["size"], (
        "varied by the run itself: kept, but no finding"
    )
    assert [(g.function, g.op_names) for g in result.run.graphs][:1] == [
        ("forward", ("linear", "relu"))
    ]
    assert result.run.compile_seconds > 0
    assert result.run.device == "cpu"
    assert result.run.notes == ()


def test_the_parent_does_not_import_torch(runs):
    """Tests of other files may have imported it, so a fresh interpreter is used."""
    import subprocess

    code = (
        "import sys, breakscope.dynamic, breakscope.workflows.run; sys.exit('torch' in sys.modules)"
    )
    root = Path(__file__).resolve().parents[3]
    assert subprocess.run([sys.executable, "-c", code], cwd=root, check=False).returncode == 0


@pytest.mark.nightly
def test_class_with_calls(runs):
    assert (runs["Clean by class"].run.calls, runs["Clean by class"].run.status) == (2, "ok")


@pytest.mark.nightly
def test_instance_with_drive(runs):
    assert (runs["instance"].run.calls, runs["instance"].run.status) == (2, "ok")


def test_function_with_calls(runs):
    result = runs["function"]
    (finding,) = result.findings
    line = line_of("x.sum().item()")
    assert (finding.line, finding.dynamo, finding.evidence, finding.function) == (
        line,
        ("GB0124",),
        "observed",
        "function",
    )
    source = (TARGETS / "behaviour.py").read_text().splitlines()[line - 1]
    assert source[finding.column - 1 : finding.end_column - 1] == "x.sum().item()"
    assert finding.first_source_line == line - 1
    assert finding.source == tuple(
        (TARGETS / "behaviour.py").read_text().splitlines()[line - 2 : line]
    )
    assert result.traced[str(TARGETS / "behaviour.py")] >= {line}
    assert result.run.notes == (), "explain agrees with the trace"


def test_module_without_inputs(runs):
    assert break_lines(runs["NoInputs"]) == [line_of("broken here")]


@pytest.mark.parametrize(
    ("label", "words"),
    [
        ("NeedsInputs", "NeedsInputs needs arguments (x, mask): write a factory"),
        ("NeedsSizes", "NeedsSizes() needs arguments (width): write a factory"),
        ("nobody", "behaviour.py defines no nobody; it defines Clean"),
        ("Claen", "behaviour.py defines no Claen; nearest: Clean"),
        ("gives_a_module_alone", "needs some (x, mask): let it `return model, (x, mask,), {}`"),
        (
            "gives_a_bare_tensor",
            "gives_a_bare_tensor() returned (Clean, Tensor); a factory returns",
        ),
        ("gives_too_much", "do not fit `forward(x)`: too many positional arguments"),
        ("hides_a_module", "hides_a_module() returned a dict; a factory returns"),
        ("waits", "waits is an async function"),
        ("bad calls", "no_calls() lists no calls"),
        ("bad backend", "no backend is called 'indoctor'; there are"),
        ("bad device", "no device is called 'gpu'"),
    ],
)
def test_wrong_use(runs, label, words):
    assert isinstance(runs[label], UserError)
    assert words in str(runs[label])


def test_hangs(runs):
    result = runs["hangs"]
    assert result.run.status == "timeout"
    assert "did not finish within 20 s" in message(result)
    assert f"behaviour.py:{line_of('time.sleep')} in hang" in message(result)
    assert "time.sleep(0.01)" in result.errors[0].detail


@needs_linux
def test_memory(runs):
    assert "needed more memory than it may have" in message(runs["wants_memory"])
    assert runs["wants_memory"].errors[0].line == line_of("hoard.append")


@pytest.mark.nightly
def test_output_is_dropped(runs, capfd):
    result = runs["speaks"]
    assert result.run.status == "ok"
    assert line_of("a line for stdout") in break_lines(result)
    assert capfd.readouterr().out == ""


@pytest.mark.nightly
@needs_linux
def test_ends_its_process_in_eager(runs):
    assert runs["dies_in_eager"].run.status == "killed"
    assert "exit code 7 in the eager run" in message(runs["dies_in_eager"])


def test_raises_in_eager(runs):
    result = runs["raises_in_eager"]
    assert (
        "ValueError in the eager run, without torch.compile: cannot use a tensor of shape (2,)"
        in message(result)
    )
    assert result.errors[0].line == line_of("raise ValueError")
    detail = result.errors[0].detail
    assert "in raise_deep\n" in detail and "in raise_deeper\n" in detail
    assert "breakscope" not in detail.replace(str(TARGETS), ""), "no frames of ours"
    assert "site-packages/torch" not in detail


@needs_linux
def test_eager_reference_warms_nothing(runs):
    assert line_of('print("filling")') in break_lines(runs["cold"])


def test_a_break_inside_a_library_stands_at_the_users_line_alone(runs):
    """Dynamo compiles the library's function by itself next, and meets the break there again."""
    breaks = [
        (Path(f.path).name, f.line) for f in runs["optimizer_step"].findings if f.kind == "break"
    ]
    assert breaks == [("behaviour.py", line_of("descent.step()"))]


def test_breaks_of_the_backward_pass(runs):
    (finding,) = [
        f for f in runs["backward_breaks"].findings if f.line == line_of("in the backward pass")
    ]
    assert finding.backward and not finding.condition
    assert [link.function for link in finding.chain] == ["Scaled.backward", "helper"]
    assert runs["backward_breaks"].run.backward


@pytest.mark.nightly
def test_batch_that_cannot_vary(runs):
    (note,) = runs["fixed_batch"].run.notes
    assert "no call with another batch size" in note
    assert "only two rows" in note
    assert runs["fixed_batch"].run.status == "ok"


@pytest.mark.nightly
def test_a_batch_that_works_beside_one_that_does_not(runs):
    """6 is a divisor, 9 is none; only the call that works is compiled."""
    result = runs["some_batches"]
    (note,) = result.run.notes
    assert "no call with a third batch size" in note and "no divisor of 12" in note
    assert (result.errors, result.run.status, result.run.calls) == ((), "ok", 4)


@pytest.mark.nightly
def test_backward_that_fails_in_later_calls(runs):
    """The second call's loss hangs on the first call's graph, which is gone; what works is run all
    the same."""
    result = runs["remembers"]
    (note,) = result.run.notes
    assert "backward left out" in note
    assert (result.errors, result.run.status, result.run.calls, result.run.backward) == (
        (),
        "ok",
        3,
        True,
    )


@pytest.mark.nightly
def test_recompile_limit(runs):
    result = runs["many_strings"]
    (lost,) = result.run.lost_frames
    assert (lost.why, lost.function, lost.line) == (
        "recompile limit",
        "limit",
        line_of("def limit"),
    )
    assert [(f.code, f.line) for f in result.findings if f.code == "BRK952"] == [
        ("BRK952", line_of("def limit"))
    ]
    (recompile,) = [f for f in result.findings if f.guard]
    assert (recompile.dynamo, recompile.count) == (("str_argument",), 7), "eight versions"
    assert recompile.cost.compile_seconds > 0


def test_stops_at_import(runs):
    assert "called sys.exit(no data set here) while the file was being imported" in message(
        runs["stops at import"]
    )


@pytest.mark.parametrize(
    ("file", "words"),
    [
        ("nowhere.py", r"no such file or folder: nowhere\.py"),
        (str(TARGETS), "is a folder"),
    ],
)
def test_no_file(file, words):
    with pytest.raises(UserError, match=words):
        run_target(RunOptions(file=file, name="make"))


def test_without_torch(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name, package=None: None)
    with pytest.raises(UserError, match="pip install torch"):
        run_target(RunOptions(file=str(TARGETS / "behaviour.py"), name="clean"))


@pytest.mark.nightly
def test_a_break_in_the_forward_of_a_layer_stands_where_the_forward_around_it_calls_it(runs):
    assert break_lines(runs["stacked"]) == [line_of("return self.norm(x)")]
