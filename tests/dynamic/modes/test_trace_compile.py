"""trace --compile: the module calls of a program that compiles nothing."""

import os
import re
import subprocess
import sys
import textwrap

import pytest
from running import TARGETS, line_of

from breakscope.dynamic import CompileModules, TraceOptions, trace_program
from breakscope.dynamic.observations.facts import Observations
from breakscope.dynamic.observations.module_calls import module_calls
from breakscope.report.combining.merge import merge
from breakscope.report.formats import RenderOptions, render
from breakscope.report.model import Report

PROGRAM = TARGETS / "not_compiled.py"


def traced(command, keep="", **wanted):
    options = TraceOptions(
        command=tuple(map(str, command)),
        modules=CompileModules(**wanted),
        keep=str(keep),
        timeout=300,
    )
    return trace_program(options, lambda seen: None)


def by_name(result):
    return {module.name.rpartition(".")[2]: module for module in result.run.modules}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The program traced, and what it printed so and by itself."""
    folder = tmp_path_factory.mktemp("compiled")
    outputs = []
    for run_it in (
        lambda command: subprocess.run(command, check=True),
        lambda command: traced(command, entries=("losses.py::l*",), keep=folder / "kept"),
    ):
        out = folder / f"{len(outputs)}.txt"
        result = run_it(["sh", "-c", f"{sys.executable} {PROGRAM} > {out}"])
        outputs.append(out.read_text())
    return result, *outputs, folder / "kept"


def test_the_programs_results_are_unchanged(run):
    result, expected, printed, _ = run
    assert result.run.status == "ok"
    assert printed == expected and "ValueError two rows are wanted" in printed


def test_breaks_of_the_outermost_calls(run):
    result, *_ = run
    lines = {(f.path.rpartition("/")[2], f.line) for f in result.findings if f.kind == "break"}
    assert lines == {
        ("not_compiled.py", line_of('print("in sub")', "not_compiled.py")),
        ("not_compiled.py", line_of("if y.sum()", "not_compiled.py")),
        ("not_compiled.py", line_of("raise ValueError", "not_compiled.py")),
        ("losses.py", line_of("if error", "losses.py")),
    }
    in_loss = next(f for f in result.findings if f.path.endswith("losses.py"))
    assert in_loss.chain == (), "what captured the call is no chain"


def test_each_class_is_told_with_what_became_of_it(run):
    modules = by_name(run[0])
    net = modules["Net"]
    assert (net.calls, net.breaks, net.line) == (
        7,
        2,
        line_of("y = self.sub", "not_compiled.py") - 1,
    )
    assert "Sub" not in modules, "it is called by Net alone"
    assert (modules["loss"].calls, modules["loss"].breaks) == (1, 1)
    assert modules["Refusing"].calls == 1
    assert modules["Linear"].calls == 1, "torch.jit.trace compares with an eager call"
    reasons = " ".join(modules["Linear"].eager)
    assert "torch.jit.trace" in reasons and "torch.func" in reasons
    assert modules["TopLevelTracedModule"].eager == ("it is a TorchScript module",)
    assert "Compiled" not in modules, "the program compiles it by itself"


def test_an_instance_is_compiled_as_if_it_were_alone(run):
    """Sizes and parameters of another one are no recompile."""
    result, *_ = run
    assert not [r for r in result.run.recompiles if r.family == "size"]


def test_kept_traces_are_reported_on_later(run):
    from breakscope.dynamic import read_result

    result, _, _, kept = run
    assert by_name(read_result(kept, ())) == by_name(result)
    assert not (kept / "injected").exists()


def test_the_text_names_each_class(run):
    report = Report(version="0", torch="", run=run[0].run)
    text = render(report, "text", RenderOptions())
    assert re.search(r"Net: 7 calls, \d+ graphs, 2 breaks", text)
    assert re.search(r"Linear: 1 call,.*left eager: torch.jit.trace was tracing it", text)
    twice = merge([report, report]).run.modules
    assert {m.name: m.calls for m in twice}["not_compiled.Net".replace("not_compiled", "__main__")]


def test_depth_and_the_most_calls_of_a_class(tmp_path):
    result = traced([sys.executable, PROGRAM], depth=2, per_module=2)
    modules = by_name(result)
    assert "Net" not in modules
    assert modules["Sub"].calls == 2
    assert modules["Sub"].eager == ("2 calls of it were captured",)
    lines = {f.line for f in result.findings if f.kind == "break"}
    assert lines == {line_of('print("in sub")', "not_compiled.py")}


ALIKE = """\
import torch

class Net(torch.nn.Module):
    def __init__(self, width, scaled=False):
        super().__init__()
        self.linear = torch.nn.Linear(width, width)
        self.scaled = scaled

    def forward(self, x):
        return self.linear(x) * x.sum().item() if self.scaled else self.linear(x)

class Odd(torch.Tensor):
    def dim(self):
        raise RuntimeError("no dimensions")

for width in (2, 3, 4, 5):
    Net(width)(torch.ones(1, width))
Net(2, scaled=True)(torch.ones(1, 2))
Net(2).eval()(torch.ones(1, 2))
Net(2)(torch.ones(2))
net = Net(3)
for rows in (1, 1, 1):
    net(torch.ones(rows, 1, 3))
print(type(torch.nn.Identity()(torch.ones(2).as_subclass(Odd))).__name__)
"""


def test_instances_that_are_built_and_called_alike_are_captured_a_few_times(tmp_path, capfd):
    (tmp_path / "alike.py").write_text(ALIKE)
    modules = by_name(traced([sys.executable, tmp_path / "alike.py"], alike=2))
    assert modules["Net"].calls == 2 + 1 + 1 + 1 + 3
    assert modules["Net"].eager == ("it is built and called like 2 instances captured before",)
    assert modules["Net"].breaks == 1
    assert modules["Identity"].calls == 1
    assert capfd.readouterr().out.strip().endswith("Odd")


def test_a_test_suite_and_its_workers(tmp_path):
    (tmp_path / "test_net.py").write_text(
        textwrap.dedent("""\
            import pytest
            import torch

            class Net(torch.nn.Module):
                def forward(self, x):
                    return x * x.sum().item()

            @pytest.mark.parametrize("value", [1.0, 2.0, 3.0])
            def test_it(value):
                assert Net()(torch.tensor([value])).item() == value * value
        """)
    )
    command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider", tmp_path]
    result = traced(command)
    assert result.run.status == "ok", result.errors
    assert by_name(result)["Net"].calls == 3
    assert [f.line for f in result.findings if f.kind == "break"] == [6]


def test_a_suite_does_not_see_the_records_of_the_trace(tmp_path):
    (tmp_path / "test_logs.py").write_text(
        textwrap.dedent("""\
            import logging
            import torch

            def test_it(caplog):
                torch.nn.Linear(2, 2)(torch.ones(1, 2))
                logging.getLogger("mine").warning("one")
                assert [record.name for record in caplog.records] == ["mine"]
        """)
    )
    result = traced([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", tmp_path])
    assert result.run.status == "ok", result.errors
    assert by_name(result)["Linear"].calls == 1


def test_an_error_that_only_dynamo_raises_is_not_the_programs(tmp_path, capfd):
    (tmp_path / "recursion.py").write_text(
        textwrap.dedent("""\
            import torch

            class Net(torch.nn.Module):
                def forward(self, x):
                    return x + torch.rand(1)

            class Wrong(torch.nn.Module):
                def forward(self, x):
                    raise ValueError("of the program")

            def too_deep(x):
                torch.rand(3)
                raise RecursionError("too deep")

            try:
                Wrong()(torch.zeros(1))
            except ValueError as problem:
                print(problem)
            torch.compile = lambda *args, **kwargs: too_deep
            torch.manual_seed(0)
            expected = torch.rand(1)
            torch.manual_seed(0)
            print(bool(Net()(torch.zeros(1)) == expected))
        """)
    )
    result = traced([sys.executable, tmp_path / "recursion.py"])
    assert capfd.readouterr().out.split("\n")[:2] == ["of the program", "True"]
    assert any("RecursionError" in reason for reason in by_name(result)["Net"].eager)


def test_a_program_without_modules(tmp_path):
    (tmp_path / "empty.py").write_text("import torch\nprint(torch.ones(2).sum())\n")
    result = traced([sys.executable, tmp_path / "empty.py"])
    assert result.run.modules == ()
    assert any("no module call was captured" in note for note in result.run.notes)


def test_notes_that_are_none_of_ours_are_left_out(tmp_path):
    good = '{"name": "m.Net", "path": "m.py", "line": 1}'
    damaged = ["{", "[]", '{"name": 1, "path": [], "line": "x"}', good[:20], '"\xff']
    (tmp_path / "modules_1.jsonl").write_text("\n".join([*damaged, good]), "latin-1")
    os.mkfifo(tmp_path / "modules_2.jsonl")
    (tmp_path / "modules_3.jsonl").symlink_to("/dev/zero")
    (module,) = module_calls(tmp_path, Observations())
    assert (module.name, module.calls) == ("m.Net", 1)
