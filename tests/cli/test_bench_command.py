"""breakscope bench: wrong use, JSON by its schema, and the text at two widths."""

import json

import pytest
from command import runner
from jsonschema import Draft202012Validator
from msgspec.structs import replace

from breakscope.dynamic.bench.decide import TOO_NOISY
from breakscope.report import schema
from breakscope.report.bench import (
    Agreement,
    Bench,
    Charge,
    Coverage,
    Interval,
    Mode,
    Saving,
    Site,
    Steps,
    bench_from_json,
    bench_to_json,
)
from breakscope.report.bench_text import render
from breakscope.report.model import CudaGraph, ReportError

SAVED = Bench(
    version="0.1.0",
    torch="2.13.0",
    python="3.11.7",
    target="model.py::make",
    device="cpu",
    backend="inductor",
    backward=True,
    threads=2,
    modes=(
        Mode(
            name="eager",
            meaning="without torch.compile",
            status="ok",
            steps=Steps(steps=1200, rounds=20, median_seconds=0.0042, p95_seconds=0.0051),
            peak_bytes=350 * 2**20,
        ),
        Mode(
            name="default",
            meaning="torch.compile()",
            status="ok",
            compile_seconds=21.4,
            attributed=0.987,
            warm_up_steps=9,
            charges=(
                Charge(to="first compile", seconds=12.0, compiles=2),
                Charge(to="recompile", family="size", seconds=9.1, compiles=1),
            ),
            steps=Steps(
                steps=1200,
                rounds=20,
                median_seconds=0.0021,
                p95_seconds=0.0029,
                ratio=0.5,
                ratio_interval=Interval(low=0.48, high=0.53),
                verdict="faster",
            ),
            peak_bytes=2**31,
            pays_after_steps=10191,
            outputs=Agreement(
                status="equal", tensors=1, max_absolute=1e-7, max_relative=2e-7, tolerance=1e-4
            ),
            gradients=Agreement(
                status="different",
                tensors=4,
                max_absolute=0.5,
                max_relative=0.25,
                tolerance=1e-4,
                detail="body.weight",
            ),
        ),
        Mode(
            name="max-autotune",
            meaning="tries kernels",
            status="timeout",
            problem="it did not end",
            limit_seconds=112.4,
        ),
    ),
    coverage=Coverage(
        share=0.62, ops_share=0.5, compiled_ops=20, eager_ops=20, eager_top=("aten::item",)
    ),
    saving=Saving(
        mode="default",
        sites=(
            Site(path="model.py", line=12, function="forward"),
            Site(path="model.py", line=30, function="loop", lost=True),
        ),
        seconds=0.0004,
        interval=Interval(low=0.0003, high=0.0005),
    ),
    use="default",
    verdict="Use default: a step takes 0.50 of eager's time (0.48 to 0.53).",
)


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    (tmp_path / "model.py").write_text(
        "import torch\n\n\ndef make():\n    return torch.nn.Linear(4, 4), (torch.ones(2, 4),), {}\n"
    )
    return runner(capsys)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["bench"], "Missing argument 'FILE::NAME'"),
        (["bench", "model.py"], "'model.py' is no target; write FILE::NAME"),
        (["bench", "absent.py::make"], "no such file or folder: absent.py"),
        (["bench", ".::make"], "is a folder"),
        (
            ["bench", "model.py::make", "--modes", "fast"],
            "no mode is called 'fast'; there are default, dynamic",
        ),
        (["bench", "model.py::make", "--modes", "eager"], "name at least one mode besides eager"),
        (["bench", "model.py::make", "--timeout", "0"], "--timeout"),
        (["bench", "model.py::make", "--rounds", "2"], "--rounds"),
    ],
)
def test_wrong_use_is_one_line(run, arguments, said):
    done = run(*arguments)
    assert done.code == 2 and done.out == ""
    assert (
        done.err.startswith("breakscope: error: ")
        and done.err.count("\n") == 1
        and said in done.err
    )


def test_json_of_a_run_follows_the_schema(run):
    pytest.importorskip("torch")
    done = run(
        "bench",
        "model.py::make",
        "--backend",
        "eager",
        "--rounds",
        "6",
        "--format",
        "json",
        "--device",
        "cpu",
    )
    measured = json.loads(done.out)
    Draft202012Validator(json.loads(schema.bench_text())).validate(measured)
    eager, default = measured["modes"]
    assert (eager["name"], default["name"], done.err) == ("eager", "default", "")
    # beside busy processes nothing can be told of six rounds
    assert done.code == (2 if default["steps"]["verdict"] == TOO_NOISY else 0)
    assert measured["coverage"]["share"] == 1.0 and measured["saving"] is None


def test_an_unknown_backend_is_refused_in_one_line(run):
    pytest.importorskip("torch")
    done = run(
        "bench", "model.py::make", "--backend", "nonsense", "--rounds", "6", "--device", "cpu"
    )
    assert (done.code, done.out) == (2, "") and "no backend is called 'nonsense'" in done.err


def test_the_published_schema_is_current():
    assert schema.BENCH_FILE.read_text(encoding="utf-8") == schema.bench_text(), (
        "run: python -m breakscope.report.schema"
    )


def test_what_is_written_is_read_back():
    assert bench_from_json(bench_to_json(SAVED)) == SAVED
    Draft202012Validator(json.loads(schema.bench_text())).validate(json.loads(bench_to_json(SAVED)))


def test_report_shows_what_was_saved(run, tmp_path):
    (tmp_path / "saved.json").write_bytes(bench_to_json(SAVED))
    shown = run("report", "saved.json")
    assert (shown.code, shown.err, shown.out) == (0, "", render(SAVED, None, color=False))
    assert run("report", "saved.json", "-f", "json").out.encode() == bench_to_json(SAVED)
    run("report", "saved.json", "-o", "shown.txt")
    assert (tmp_path / "shown.txt").read_text() == shown.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["saved.json", "-f", "sarif"],
            "what `breakscope bench` measured is shown as text or json, not as sarif",
        ),
        (
            ["saved.json", "saved.json"],
            "what `breakscope bench` measured is shown alone: breakscope report FILE",
        ),
        (
            ["half.json"],
            "half.json is no measurement of breakscope bench: Object missing required field `version`",
        ),
    ],
)
def test_report_says_what_it_cannot_show(run, tmp_path, arguments, said):
    (tmp_path / "saved.json").write_bytes(bench_to_json(SAVED))
    (tmp_path / "half.json").write_text('{"modes": []}')
    done = run("report", *arguments)
    assert (done.code, done.out, done.err) == (2, "", f"breakscope: error: {said}\n")


def test_on_a_gpu_it_is_told_how_busy_it_is_and_which_cuda_graphs_fail():
    eager, default, _ = SAVED.modes
    graphs = (
        CudaGraph(
            kind="skipped", reason="mutated inputs (1 instances)", path="m.py", line=9, function="f"
        ),
        CudaGraph(kind="recorded again", reason="9 distinct sizes", count=2),
    )
    modes = (
        replace(eager, gpu_busy=0.514),
        replace(default, name="reduce-overhead", gpu_busy=0.58, cuda_graphs=graphs * 3),
    )
    text = " ".join(
        render(replace(SAVED, device="cuda (NVIDIA H100)", modes=modes), 140, color=False).split()
    )
    assert (
        "The GPU is busy for 51 % of a step in mode eager, 58 % of a step in mode reduce-overhead."
        in text
    )
    assert (
        "reduce-overhead: the CUDA graph of `f` was left out: mutated inputs (1 instances), at m.py:9"
        in text
    )
    assert "reduce-overhead: a CUDA graph was recorded again: 9 distinct sizes (2 times)" in text
    assert "reduce-overhead: 1 more of such graphs" in text
    assert "GPU" not in render(SAVED, 140, color=False)


@pytest.mark.parametrize("width", [80, 140])
def test_text_fits_its_width(width):
    lines = render(SAVED, width, color=False).splitlines()
    assert all(len(line) <= width for line in lines)
    assert not any("\u2026" in line for line in lines)  # nothing is cut off
    text = " ".join(" ".join(lines).split())
    for said in (
        "0.50 (0.48-0.53)",
        "10,191 steps",
        "not ended in 112 s -",
        "2.0 GiB",
        "recompiles by size 9.1 s",
        "99 % of it attributed",
        "outputs equal within 1e-04",
        "gradients DIFFER at `body.weight`",
        "62 % of op time",
        "model.py:30 (frame skipped)",
        "would save about 400 us per step (300 us to 500 us), on average 200 us each",
        "max-autotune: timeout: it did not end",
    ):
        assert said in text
    assert lines[-1].endswith("(0.48 to 0.53).") and "\x1b" not in text


def test_colour_is_asked_for_and_errors_come_first():
    failed = Bench(
        version="0",
        torch="",
        python="",
        target="m.py::make",
        device="",
        backend="inductor",
        backward=False,
        threads=0,
        errors=(ReportError(message="m.py::make raised ValueError", path="m.py", line=3),),
    )
    assert "\x1b[" in render(SAVED, 80, color=True)
    assert render(failed, 80, color=False).startswith("m.py:3: error: m.py::make raised ValueError")
