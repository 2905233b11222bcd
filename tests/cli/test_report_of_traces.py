"""breakscope report on a trace from elsewhere: it names files, and does not choose what is read."""

import json
import os
from pathlib import Path

import pytest
from command import runner

GOLDEN = Path(__file__).resolve().parents[1] / "dynamic" / "golden"
SECRET = "password = 'x1-secret'  # no program that was traced"


@pytest.fixture
def run(capsys):
    return runner(capsys)


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A working directory, and beside it a folder with secrets at the lines that the trace names."""
    (tmp_path / "here").mkdir()
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "script.py").write_text(f"{SECRET}\n" * 40)
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path


def trace_of(folder: Path, named: str) -> Path:
    """A trace that names the files of `named`."""
    folder.mkdir(exist_ok=True)
    text = (GOLDEN / "2.13.0.log").read_text().replace("/project/", f"{named}/")
    (folder / "trace.log").write_text(text)
    return folder


def shown(done) -> str:
    """What came out, when the trace was understood."""
    assert done.code == 1 and "breakscope: error" not in done.err
    return done.out


@pytest.mark.parametrize("name", ["text", "json", "sarif", "github", "concise"])
def test_files_elsewhere_are_not_read(place, run, name):
    trace_of(place / "here" / "trace", str(place / "secret"))
    assert "secret'" not in shown(run("report", "trace", "--format", name, "--show-fixes"))


@pytest.mark.parametrize("named", ["../secret", "/proc/self/cwd/../secret"])
def test_roundabout_names(place, run, named):
    trace_of(place / "here" / "trace", named)
    assert "secret'" not in shown(run("report", "trace"))


def test_links_that_lead_outside_are_not_followed(place, run):
    (place / "here" / "linked").symlink_to(place / "secret")
    (place / "here" / "script.py").symlink_to(place / "secret" / "script.py")
    for named in ("linked", ""):
        trace_of(place / "here" / "trace", str(place / "here" / named))
        assert "secret'" not in shown(run("report", "trace"))


def test_files_below_the_current_folder_are_read(place, run):
    (place / "here" / "script.py").write_text((GOLDEN / "script.py").read_text())
    trace_of(place / "elsewhere", str(place / "here"))
    assert "print(" in shown(run("report", place / "elsewhere"))


def test_source_roots(place, run):
    trace_of(place / "here" / "trace", str(place / "secret"))
    done = run("report", "trace", "--source-root", ".", "--source-root", place / "secret")
    assert "secret'" in shown(done)
    assert "secret'" not in shown(run("report", "trace"))  # what was read before is not kept
    assert run("report", "trace", "--source-root", "absent").code == 2


def test_traces_that_are_links_to_elsewhere_are_not_read(place, run):
    trace_of(place / "secret" / "trace", "/project")
    (place / "here" / "trace").mkdir()
    (place / "here" / "trace" / "a.log").symlink_to(place / "secret" / "trace" / "trace.log")
    done = run("report", "trace")
    assert done.code == 2 and "no .log file" in done.err


def test_torch_of_a_trace_is_not_read_elsewhere(place, run):
    registry = place / "secret" / "torch" / "_dynamo" / "graph_break_registry.json"
    registry.parent.mkdir(parents=True)
    registry.write_text(json.dumps({"GB9999": [{"Gb_type": "Data-dependent branching"}]}))
    folder = trace_of(place / "here" / "trace", "/project")
    text = (folder / "trace.log").read_text().replace("/site-packages/", f"{place}/secret/")
    (folder / "trace.log").write_text(text.replace("GB0170", ""))
    assert "GB9999" not in shown(run("report", "trace", "-f", "json"))


def test_a_pipe_is_no_trace(place, run):
    os.mkfifo(place / "here" / "pipe")
    done = run("report", "pipe")
    assert done.code == 2 and done.err.count("\n") == 1
