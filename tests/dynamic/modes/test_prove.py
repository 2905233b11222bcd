"""--prove: each setting in a run of its own, and the fewest that leave least."""

import sys
from pathlib import Path

import pytest

from breakscope.dynamic import RunOptions, TraceOptions, run_fully, trace_fully, trace_program
from breakscope.dynamic.options import Setting
from breakscope.report.formats.of_runs.proved import proved_texts

pytest.importorskip("torch")
PROGRAM = """\
import torch


def scaled(x):
    return x / x.max().item()


def growing(x):
    return x.softmax(-1)


def calls():
    return [(torch.ones(n, 4),) for n in (3, 4, 5)]


def clean(x):
    return x * 2


def make():
    return scaled, (torch.ones(4),), {}


def make_clean():
    return clean, (torch.ones(4),), {}
"""


@pytest.fixture
def prove(tmp_path: Path):
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)

    def run(name: str, **given):
        options = RunOptions(
            file=str(file), name=name, prove=True, vary=False, explain=False, device="cpu", **given
        )
        return run_fully(options).run.proved

    return run


def test_a_switch_removes_a_break(prove):
    proved = prove("make")
    assert proved.lines == ("torch._dynamo.config.capture_scalar_outputs = True",)
    assert (proved.before, proved.after) == ((1, 0), (0, 0))
    by_setting = {tried.setting: tried for tried in proved.tried}
    assert by_setting[proved.lines[0]].gone[0].line == 5
    shapes = by_setting["torch._dynamo.config.capture_dynamic_output_shape_ops = True"]
    assert shapes.gone == () and shapes.left == (1, 0)
    assert "leave least (0 breaks and 0 recompiles" in proved_texts(proved)[-1]


def test_dynamic_shapes_remove_a_recompile(prove):
    proved = prove("growing", calls="calls")
    assert proved.lines == ("torch.compile(..., dynamic=True)",)
    assert proved.after == (0, 0)
    marked = [tried for tried in proved.tried if "mark_dynamic(x, 0)" in tried.setting]
    assert marked and marked[0].left == (0, 0)


def test_nothing_is_tried_where_nothing_was_found(prove):
    proved = prove("make_clean")
    assert (proved.tried, proved.lines) == ((), ())
    assert proved_texts(proved) == []


THREADS = """\
import threading

import torch


@torch.compile(backend="eager")
def scaled(x):
    return x / x.max().item()


for size in (3, 4, 5):
    thread = threading.Thread(target=scaled, args=(torch.ones(size),))
    thread.start()
    thread.join()
print("printed once")
"""


@pytest.mark.nightly
def test_a_program_is_run_again_with_each_setting(tmp_path: Path, capfd):
    """In all its threads, where a value that is set in one holds in that one alone; without
    output."""
    file = tmp_path / "program.py"
    file.write_text(THREADS)
    options = TraceOptions(command=(sys.executable, str(file)), prove=True)
    said: list[str] = []
    proved = trace_fully(options, None, said.append).run.proved
    assert set(proved.lines) == {
        "torch._dynamo.config.capture_scalar_outputs = True",
        "torch.compile(..., dynamic=True)",
    }
    assert proved.after == (0, 0) and proved.before[0] == 1
    assert all(text.startswith("prove: runs again with") for text in said) and said
    assert capfd.readouterr().out.count("printed once") == 1


def test_a_setting_that_this_torch_does_not_have(tmp_path: Path):
    file = tmp_path / "program.py"
    file.write_text("import torch\n")
    wanted = (Setting(switch="no_such_switch"),)
    ran = trace_program(TraceOptions(command=(sys.executable, str(file)), settings=wanted), None)
    assert any("no torch._dynamo.config.no_such_switch" in e.message for e in ran.errors)


def test_what_failed_is_not_proven(tmp_path: Path):
    file = tmp_path / "program.py"
    file.write_text(THREADS + "raise SystemExit(3)\n")
    options = TraceOptions(command=(sys.executable, str(file)), prove=True)
    assert trace_fully(options, None).run.proved is None
