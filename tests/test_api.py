"""The functions of `import breakscope`."""

import inspect
import json
import subprocess
import sys
import typing
from pathlib import Path

import pytest
from import_path import PYTHONPATH

import breakscope
from breakscope import api
from breakscope.__main__ import main
from breakscope.report.model import to_json

ROOT = Path(__file__).resolve().parents[1]
MODEL = """\
import torch


class Gate(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)

    def forward(self, x):
        print("gate")
        if x.sum() > 0:
            x = x + 1
        return self.layer(x)


def make():
    return Gate(), (torch.ones(2, 4),), {}
"""


@pytest.fixture
def model(tmp_path, monkeypatch):
    """The file, in a working directory of its own."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "model.py"
    path.write_text(MODEL)
    return path


def test_check_is_what_the_command_prints(model, capsys):
    report = breakscope.check(model)
    assert [(f.line, f.code) for f in report.breaks] == [(10, "BRK401"), (11, "BRK101")]
    assert main(["check", "model.py", "--format", "json"]) == 1
    printed = json.loads(capsys.readouterr().out)
    assert json.loads(to_json(report)) == printed
    main(["check", "model.py"])
    assert capsys.readouterr().out == breakscope.as_text(report)


def test_check_takes_paths_and_codes_in_any_form(model):
    (model.parent / "other.py").write_text(MODEL)
    assert breakscope.check([model, "other.py"]).files == 2
    assert (
        breakscope.check(".", select="BRK1").breaks == breakscope.check(".", select=["BRK1"]).breaks
    )
    assert {f.code for f in breakscope.check(".", ignore="BRK1,BRK4").findings} == set()


def test_settings_hold_unless_they_are_not_wanted(model):
    (model.parent / "pyproject.toml").write_text('[tool.breakscope]\nignore = ["BRK4"]\n')
    assert len(breakscope.check("model.py").breaks) == 1
    assert len(breakscope.check("model.py", config=False).breaks) == 2


def test_rules_of_the_project_run_only_when_they_may(model):
    (model.parent / "pyproject.toml").write_text('[tool.breakscope]\nrules = ["ours"]\n')
    (model.parent / "ours").mkdir()
    with pytest.raises(breakscope.UserError, match="not run unless allow_rules=True"):
        breakscope.check("model.py")
    assert len(breakscope.check("model.py", allow_rules=True).breaks) == 2


def test_fix_writes_or_shows(model):
    shown = breakscope.fix("model.py", unsafe=True, write=False)
    assert model.read_text() == MODEL and "torch.where" in shown.fixes.files[0].diff
    assert not breakscope.fix("model.py").fixes.fixed  # neither is safe
    done = breakscope.fix("model.py", unsafe=True)
    assert "torch.where" in model.read_text() and not done.findings
    assert [place.code for place in done.fixes.fixed] == ["BRK401", "BRK101"]


def test_fix_proves(model):
    pytest.importorskip("torch")
    report = breakscope.fix("model.py", unsafe=True, verify="model.py::make", select="BRK101")
    assert not report.errors and "torch.where" in model.read_text()
    assert report.fixes.proofs


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: breakscope.check("none.py"), "no such file or folder: none.py"),
        (lambda: breakscope.check([]), "nothing to check; name files or folders"),
        (lambda: breakscope.check("model.py", select="ABC"), "no rule has the code 'ABC'"),
        (lambda: breakscope.check("model.py", torch="one"), "--torch: "),
        (lambda: breakscope.fix("model.py", verify="make"), "'make' is no target"),
        (lambda: breakscope.run("model.py"), "'model.py' is no target; write FILE::NAME"),
        (lambda: breakscope.run("model.py::make", (1,)), "gives the arguments; leave them out"),
        (lambda: breakscope.run("model.py::make", backend=print), "is a name, not "),
        (lambda: breakscope.run(3), "int cannot be called; give a model or a function"),
    ],
)
def test_wrong_use_is_one_clear_line(model, call, message):
    with pytest.raises(breakscope.UserError) as raised:
        call()
    assert message in str(raised.value) and "\n" not in str(raised.value)


def test_every_function_is_described_and_typed():
    for name in breakscope.__all__:
        function = getattr(breakscope, name)
        assert inspect.getdoc(function), name
        if inspect.isfunction(function):
            hints = set(inspect.signature(function).parameters) | {"return"}
            assert set(inspect.unwrap(function).__annotations__) == hints, name
    assert (ROOT / "breakscope" / "py.typed").exists()
    assert set(api.__all__) == set(breakscope.__all__) and set(dir(breakscope)) >= set(api.__all__)
    assert typing.get_type_hints(breakscope.as_text)["return"] is str


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'lint'"):
        breakscope.lint  # noqa: B018


def test_nothing_is_imported_before_it_is_needed(tmp_path):
    (tmp_path / "clean.py").write_text("import torch\n\n\ndef f(x):\n    return x + 1\n")
    program = (
        "import sys, breakscope\n"
        "assert [m for m in sys.modules if m.startswith('breakscope')] == ['breakscope']\n"
        "heavy = {'torch', 'libcst', 'numpy', 'click', 'rich', 'pytest'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
        "breakscope.run, breakscope.watch\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
        "assert not breakscope.check('clean.py').findings\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    environment = {"PYTHONPATH": PYTHONPATH}
    subprocess.run([sys.executable, "-c", program], check=True, cwd=tmp_path, env=environment)


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


def gate(x):
    if x.sum() > 0:
        x = x + 1
    return x * 2


LINE = inspect.getsourcelines(gate)[1] + 1


def test_run_calls_what_is_held(torch):
    report = breakscope.run(gate, torch.ones(2), more=[(torch.ones(3),)])
    assert [(f.line, f.code, f.evidence) for f in report.breaks] == [(LINE, "BRK101", "confirmed")]
    assert len(report.recompiles) == 1 and report.run.status == "ok" and not report.errors


def test_run_goes_through_the_backward_and_leaves_gradients(torch):
    seen = []

    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, gradient):
            seen.append(gradient)
            return gradient * 2

    layer = torch.nn.Linear(2, 2)
    model = torch.nn.Sequential(layer)
    model.register_forward_hook(lambda module, args, output: Double.apply(output))
    before = layer.weight.grad = torch.full((2, 2), 5.0)
    report = breakscope.run(model, torch.ones(1, 2))
    assert report.run.status == "ok" and seen
    assert layer.weight.grad is before and bool((before == 5.0).all()) and layer.bias.grad is None
    seen.clear()
    breakscope.run(model, torch.ones(1, 2), backward=False)
    assert not seen


@pytest.mark.parametrize("how", ["function", "module", "in place"])
def test_run_takes_what_is_compiled_already(torch, how):
    class Model(torch.nn.Module):
        def forward(self, x):
            return gate(x)

    model = Model()
    if how == "in place":
        model.compile(backend="eager")
    else:
        model = torch.compile(gate if how == "function" else model, backend="eager")
    model(torch.ones(2))  # compiled before, and compiled again for the report
    report = breakscope.run(model, torch.ones(2))
    assert [f.line for f in report.breaks] == [LINE] and not report.recompiles
    with pytest.raises(breakscope.UserError, match="compiled already; leave `backend` out"):
        breakscope.run(model, torch.ones(2), backend="eager")


def test_an_exception_of_the_model_is_an_error_of_the_report(torch):
    def broken(x):
        gate(x)
        raise ValueError("its own")

    report = breakscope.run(broken, torch.ones(2))
    assert report.run.status == "failed" and "its own" in report.errors[0].message
    assert LINE in [f.line for f in report.breaks]


def test_an_unknown_backend_is_refused(torch):
    with pytest.raises(breakscope.UserError, match=r"no backend .fast.; there are .*inductor"):
        breakscope.run(gate, torch.ones(2), backend="fast")


def test_run_of_a_name_is_the_command(torch, model):
    report = breakscope.run("model.py::make")
    assert report.run.target == "model.py::make" and report.run.calls > 2
    assert {f.line for f in report.breaks if f.evidence == "confirmed"} == {10, 11}
