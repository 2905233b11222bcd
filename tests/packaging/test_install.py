"""The package as people get it: built, installed into a fresh environment without torch, and used
there."""

import json
import os
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.packaging
LEFT_OUT = shutil.ignore_patterns(".*", "__pycache__", "*.egg-info")
BUILT = {"build", "dist"}
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
MODEL = """\
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            x = x * 2
        return x
"""


def call(*command, **options):
    done = subprocess.run(
        [str(c) for c in command], capture_output=True, text=True, env=ENVIRONMENT, **options
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A copy of this checkout, so that building leaves nothing behind."""

    def ignored(folder, names):
        return LEFT_OUT(folder, names) | (BUILT if Path(folder) == ROOT else set())

    return Path(shutil.copytree(ROOT, tmp_path_factory.mktemp("copy") / "checkout", ignore=ignored))


@pytest.fixture(scope="module")
def built(checkout, tmp_path_factory):
    """The folder with the sdist, and the wheel that was built from that sdist."""
    folder = tmp_path_factory.mktemp("dist")
    call(sys.executable, "-m", "build", "-o", folder, checkout)
    return folder


@pytest.fixture(scope="module")
def python(built, checkout, tmp_path_factory):
    """The interpreter of a fresh environment with the wheel and what it needs, nothing else."""
    folder = tmp_path_factory.mktemp("env")
    venv.create(folder, with_pip=True)
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    (wheel,) = built.glob("*.whl")
    call(python, "-m", "pip", "install", "-q", "-c", checkout / "constraints.txt", wheel)
    return python


@pytest.fixture
def check(python, tmp_path):
    """Runs `breakscope check` of the environment on MODEL; the folder is far from any checkout."""
    (tmp_path / "model.py").write_text(MODEL)

    def run():
        done = subprocess.run(
            [python.with_name("breakscope"), "check", "model.py", "--format", "json"],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env=ENVIRONMENT,
        )
        assert done.returncode == 1 and done.stdout, done.stderr
        return [(f["line"], f["code"]) for f in json.loads(done.stdout)["findings"]]

    return run


def rules_of(python, tmp_path) -> set[str]:
    code = (
        "from breakscope.rulekit.loader import load_rules; print(*(r.code for r in load_rules()))"
    )
    return set(call(python, "-c", code, cwd=tmp_path).split())


def test_the_wheel_holds_everything(built):
    (wheel,) = built.glob("*.whl")
    inside = set(zipfile.ZipFile(wheel).namelist())
    wanted = {p.relative_to(ROOT).as_posix() for p in (ROOT / "breakscope").rglob("*.py")}
    wanted |= {
        f"breakscope/{p.relative_to(ROOT).as_posix()}"
        for p in (ROOT / "rules").rglob("*")
        if p.is_file()
    }
    wanted |= {
        f"breakscope/report/{name}.json" for name in ("schema", "bench_schema", "difference_schema")
    }
    wanted.add("breakscope/py.typed")
    assert {name for name in wanted if "__pycache__" not in name} - inside == set()
    assert {name.partition("/")[0] for name in inside} == {
        "breakscope",
        next(n for n in inside if "dist-info" in n).partition("/")[0],
    }


def test_a_static_install_needs_five_libraries_and_no_torch(python):
    listed = json.loads(call(python, "-m", "pip", "list", "--format", "json"))
    names = {entry["name"].lower() for entry in listed}
    assert {"click", "libcst", "msgspec", "pathspec", "rich"} <= names
    assert names & {"torch", "numpy", "transformers"} == set()


def test_wheel_sdist_and_editable_find_the_rules(python, built, checkout, check, tmp_path):
    expected = [(6, "BRK101")]
    shipped = rules_of(python, tmp_path)
    assert len(shipped) == len(list((ROOT / "rules").glob("brk*.py")))
    assert check() == expected

    (sdist,) = built.glob("*.tar.gz")
    (wheel,) = built.glob("*.whl")  # last: it is what the other tests have
    for source in ([sdist], ["-e", checkout], [wheel]):
        call(python, "-m", "pip", "install", "-q", "--no-deps", "--force-reinstall", *source)
        assert rules_of(python, tmp_path) == shipped
        assert check() == expected


TYPED = """\
import breakscope

with breakscope.watch() as seen:
    reveal_type(seen)
reveal_type(breakscope.check("a.py").breaks[0].line)
reveal_type(breakscope.run(print, (1,)))
breakscope.fix(3)
"""
FITTING = (
    "def test_fits(request):\n    assert request.config.pluginmanager.hasplugin('breakscope')\n"
)


def test_programs_see_the_types(python, tmp_path):
    call(python, "-m", "pip", "install", "-q", "mypy")
    (tmp_path / "program.py").write_text(TYPED)
    done = subprocess.run(
        [python, "-m", "mypy", "--strict", "--follow-imports", "silent", "program.py"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=ENVIRONMENT,
    )
    shown = [line.partition(": ")[2] for line in done.stdout.splitlines()]
    report = 'note: Revealed type is "breakscope.report.model.Report"'
    assert shown[:3] == [report, 'note: Revealed type is "int"', report], done.stdout
    assert 'error: Argument 1 to "fix" has incompatible type "int"' in shown[3]
    assert "Found 1 error in 1 file" in done.stdout


def test_pytest_finds_the_plugin_and_is_left_as_it_is(python, tmp_path):
    call(python, "-m", "pip", "install", "-q", "pytest")
    (tmp_path / "test_fits.py").write_text(FITTING)
    # -B: bytecode that pip doesn't know of would stay behind when the package is installed anew
    printed = call(python, "-B", "-m", "pytest", "-p", "no:cacheprovider", "-q", cwd=tmp_path)
    assert "1 passed" in printed and "breakscope" not in printed


def test_run_without_torch_says_what_to_install(python, check, tmp_path):
    done = subprocess.run(
        [python.with_name("breakscope"), "run", "model.py::Model"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=ENVIRONMENT,
    )
    assert done.returncode == 2
    assert "pip install torch" in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
