"""Host syncs of a step on a GPU. No GPU is needed: a step warns as torch's C++ does, and a stand-in
keeps the mode.

The warning is the text of c10/cuda/CUDAFunctions.cpp with what TORCH_WARN adds on its way to
Python.
"""

import importlib.util
import os
import re
import warnings
from types import SimpleNamespace

import msgspec
import pytest
import torch

from breakscope.dynamic.child import host_syncs as child
from breakscope.dynamic.child.bench.coverage import marked
from breakscope.dynamic.child.bench.stepper import Stepper
from breakscope.dynamic.child.calls import Plan
from breakscope.dynamic.child.load import Target
from breakscope.dynamic.child.stages import listen_for_syncs
from breakscope.dynamic.findings.host_syncs import with_host_syncs
from breakscope.dynamic.observations.host_syncs import read_host_syncs
from breakscope.dynamic.observations.ownership import Places
from breakscope.report.formats import RenderOptions, render
from breakscope.report.formats._words import seen
from breakscope.report.model import Cost, Finding, HostSync, Interval, Report, Run

TEXT = "called a synchronizing CUDA operation (Triggered internally at /pytorch/c10/cuda/CUDAFunctions.cpp:154.)"
PROGRAM = f"""
import warnings


def item(value):  # as torch does it, once for each call
    warnings.warn({TEXT!r}, UserWarning, stacklevel=1)
    return value


class Model:
    def forward(self, x, wait):
        total = item(1.0)
        for _ in range(3):
            total += item(2.0)
        wait()
        warnings.warn("something else")
        return x * total
"""


class Cuda:
    """What torch.cuda has of the mode."""

    def __init__(self):
        self.mode, self.seen = 0, []

    def get_sync_debug_mode(self):
        return self.mode

    def set_sync_debug_mode(self, mode):
        self.seen.append(mode)
        self.mode = mode


@pytest.fixture
def program(tmp_path):
    spec = importlib.util.spec_from_file_location("syncing", tmp_path / "syncing.py")
    (tmp_path / "syncing.py").write_text(PROGRAM)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def captured_of(program, wait=lambda: None, native=None):
    target = Target(program.Model().forward, (torch.ones(2), wait), {})
    plan = Plan("Model", "", "", 0, False, torch.device("cpu"))
    stepper = Stepper.of(target, [(target.args, target.kwargs)], plan)
    cuda = Cuda()
    with warnings.catch_warnings(record=True) as others:
        warnings.simplefilter("always")
        with child.listening(cuda, native or SimpleNamespace()) as stacks:
            stepper.untimed()
    return cuda, stacks, [str(other.message) for other in others]


def read(stacks):
    return read_host_syncs(child.counted(stacks), Places.here(os.path.dirname(torch.__file__)))


def line_of(text):
    return next(n for n, line in enumerate(PROGRAM.splitlines(), 1) if text in line)


def test_each_sync_is_captured_and_other_warnings_pass(program):
    cuda, stacks, others = captured_of(program)
    assert len(stacks) == 4 and others == ["something else"]
    assert cuda.seen == ["warn", 0] and cuda.mode == 0
    assert [frame for frame in stacks[0] if frame[0] == program.__file__] == [
        (program.__file__, line_of("item(1.0)"), "forward"),
        (program.__file__, line_of("warnings.warn('called"), "item"),
    ]


def test_torch_cuda_synchronize_is_captured_where_it_enters_c(program):
    waited = []
    native = SimpleNamespace(_cuda_synchronize=lambda: waited.append(1))
    original = native._cuda_synchronize
    _, stacks, _ = captured_of(program, lambda: native._cuda_synchronize(), native)
    assert len(stacks) == 5 and waited == [1] and native._cuda_synchronize is original


def test_the_mode_is_put_back_when_the_step_fails():
    cuda, filters, show = Cuda(), list(warnings.filters), warnings.showwarning
    with pytest.raises(ValueError), child.listening(cuda, SimpleNamespace()):
        raise ValueError
    assert cuda.mode == 0 and warnings.filters == filters and warnings.showwarning is show


def test_syncs_are_counted_at_the_users_lines(program, monkeypatch):
    monkeypatch.chdir(os.path.dirname(program.__file__))
    _, stacks, _ = captured_of(program)
    inner = line_of("warnings.warn('called")
    # as where C++ warns, not a function
    in_torch = [tuple(frame for frame in stack if frame[2] != "item") for stack in stacks]
    assert [(s.path, s.line, s.count) for s in read(stacks)] == [("syncing.py", inner, 4)]
    assert read(in_torch) == (
        HostSync(
            path="syncing.py",
            line=line_of("item(2.0)"),
            function="Model.forward",
            code="total += item(2.0)",
            count=3,
        ),
        HostSync(
            path="syncing.py",
            line=line_of("item(1.0)"),
            function="Model.forward",
            code="total = item(1.0)",
            count=1,
        ),
    )


def test_a_sync_that_no_line_of_the_users_led_to_has_no_place():
    own = [
        (child.__file__.replace("host_syncs", "bench/stepper"), 9, "_work"),
        (torch.__file__, 3, "backward"),
    ]
    assert read([tuple(own)] * 2) == (HostSync(count=2),)
    assert read([(*own, (torch.autograd.graph.__file__, 5, "_engine_run_backward"))]) == (
        HostSync(function="backward pass"),
    )


def test_inside_a_graph_the_node_has_the_line(program, monkeypatch):
    """With a graph's frames alone the sync would stand where the compiled function was called."""
    monkeypatch.chdir(os.path.dirname(program.__file__))
    graph = torch.fx.Graph()
    wait = graph.call_function(
        lambda x: warnings.warn(TEXT, UserWarning, stacklevel=1), (graph.placeholder("x"),)
    )
    wait.meta["stack_trace"] = (
        f'  File "{program.__file__}", line {line_of("total = item")}, in forward\n    total = item(1.0)'
    )
    graph.output(wait)
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_sync_debug_mode", lambda: 1)
    run = marked(torch.fx.GraphModule({}, graph), [])
    with child.listening(Cuda(), SimpleNamespace()) as stacks:
        run(torch.ones(2))
    here = tuple(frame for frame in stacks[0] if frame[0] != __file__)
    assert [(s.line, s.function, s.code) for s in read([here])] == [
        (line_of("total = item"), "Model.forward", "total = item(1.0)")
    ]


def test_code_that_inductor_wrote_is_no_place(monkeypatch, tmp_path):
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path))
    code = compile(
        "warnings.warn(text, UserWarning, stacklevel=1)", str(tmp_path / "ab" / "cab.py"), "exec"
    )
    with child.listening(Cuda(), SimpleNamespace()) as stacks:
        exec(code, {"warnings": warnings, "text": TEXT})
    assert [name for path, _, name in stacks[0] if path == __file__] == [
        "test_code_that_inductor_wrote_is_no_place"
    ]
    assert not any(path.startswith(str(tmp_path)) for path, _, _ in stacks[0])


BREAK = Finding(
    path="m.py",
    line=3,
    column=5,
    end_line=3,
    end_column=14,
    code="BRK201",
    rule="item",
    kind="break",
    severity="error",
    confidence="certain",
    evidence="confirmed",
    function="f",
    message="`x.item()` reads a tensor's value",
    count=1,
    first_source_line=3,
    source=("    n = x.item()",),
)
SYNCS = (
    HostSync(path="m.py", line=3, function="f", code="n = x.item()", count=2),
    HostSync(path="m.py", line=9, function="g", code="y = x.cpu()"),
    HostSync(count=1),
    HostSync(function="backward pass"),
)


def test_the_report_shows_them_with_the_break_and_else_by_line():
    findings = with_host_syncs([BREAK, msgspec.structs.replace(BREAK, line=4, end_line=4)], SYNCS)
    assert [finding.host_syncs for finding in findings] == [2, 0]
    run = Run(
        target="m.py::f",
        status="ok",
        device="cuda:0",
        backend="eager",
        torch_version="2.13.0",
        python_version="3.11",
        host_syncs=SYNCS,
        capture_checked=True,
    )
    text = render(
        Report(version="0", torch="2.13.0", findings=findings[:1], run=run), "text", RenderOptions()
    )
    assert "confirmed, 1 event, 2 host syncs per step" in text
    assert re.findall(r"^.*host sync: .*$", text, re.MULTILINE) == [
        "m.py:9: host sync: `y = x.cpu()` makes the CPU wait for the GPU 1 time per step",
        "breakscope: host sync: the step, at no line of yours, makes the CPU wait for the GPU 1 time per step",
        "breakscope: host sync: the backward pass makes the CPU wait for the GPU 1 time per step",
    ]
    assert "; 5 host syncs per step." in text


@pytest.mark.parametrize(
    ("cost", "words"),
    [
        (Cost(compile_seconds=1.9), "confirmed, 2 host syncs per step, 1.9 s of compiling"),
        (
            Cost(
                compile_seconds=1.9,
                step_seconds=0.002,
                step_interval=Interval(low=0.001, high=0.003),
            ),
            "confirmed, 2 host syncs per step, 2 ms per step (1 ms to 3 ms), 1.9 s of compiling",
        ),
    ],
)
def test_they_go_before_what_was_measured(cost, words):
    item = msgspec.structs.replace(BREAK, dynamo=(), count=0, host_syncs=2, cost=cost)
    assert words == seen(item)


def test_a_run_on_the_cpu_shows_none_of_them():
    run = Run(
        target="m.py::f",
        status="ok",
        device="cpu",
        backend="eager",
        torch_version="2.13.0",
        python_version="3.11",
        capture_checked=True,
    )
    assert "host sync" not in render(
        Report(version="0", torch="2.13.0", findings=(BREAK,), run=run), "text", RenderOptions()
    )


def test_the_childs_stage_notes_the_syncs_of_a_steady_compiled_step(program, monkeypatch):
    cuda, noted = Cuda(), []
    monkeypatch.setattr(torch.cuda, "get_sync_debug_mode", cuda.get_sync_debug_mode)
    monkeypatch.setattr(torch.cuda, "set_sync_debug_mode", cuda.set_sync_debug_mode)
    target = Target(program.Model().forward, (torch.ones(2), lambda: None), {})
    plan = Plan("Model", "", "", 0, False, torch.device("cpu"))
    progress = SimpleNamespace(note=lambda event, **facts: noted.append((event, facts["syncs"])))
    listen_for_syncs(torch.compile(target.function, backend="eager"), target, plan, progress)
    ((event, syncs),) = noted
    assert event == "host syncs" and cuda.seen == ["warn", 0]
    (found,) = read_host_syncs(syncs, Places.here(os.path.dirname(torch.__file__)))
    assert (found.path, found.line, found.count) == (
        program.__file__,
        line_of("warnings.warn('called"),
        4,
    )
