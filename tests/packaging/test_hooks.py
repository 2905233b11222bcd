"""The hooks of pre-commit, run by pre-commit itself from a repository with this checkout, on a
repository of its own."""

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.packaging
HOOKS = ".pre-commit-hooks.yaml"
BROKEN = """\
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        {line}
        return x
"""
FIXABLE, BREAKS, CLEAN = "torch._dynamo.graph_break()", "x = x * x.sum().item()", "x = x + 1"
CONFIGURATION = """\
repos:
  - repo: {repository}
    rev: {rev}
    hooks:
      - id: {hook}
        {more}
"""


def _left_out(folder, names):
    """What a commit of the checkout does not hold."""
    built = {"build", "dist"} if Path(folder) == ROOT else set()
    hidden = {name for name in names if name.startswith(".") and name != HOOKS}
    return built | hidden | {n for n in names if n == "__pycache__" or n.endswith(".egg-info")}


def git(folder, *arguments):
    names = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(
        ["git", *names, *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture(scope="module")
def hooks(tmp_path_factory):
    """A repository that holds this checkout, and its commit."""
    folder = tmp_path_factory.mktemp("hooks") / "breakscope"
    shutil.copytree(ROOT, folder, ignore=_left_out)
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "all")
    return folder, git(folder, "rev-parse", "HEAD")


@pytest.fixture(scope="module")
def pre_commit(tmp_path_factory):
    """pre-commit in an environment of its own."""
    folder = tmp_path_factory.mktemp("env")
    venv.create(folder, with_pip=True)
    program = folder / ("Scripts" if os.name == "nt" else "bin") / "pre-commit"
    pip = [str(program.with_name("python")), "-m", "pip", "install", "-q", "pre-commit"]
    done = subprocess.run(pip, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    home = {"PRE_COMMIT_HOME": str(tmp_path_factory.mktemp("home"))}

    def run(folder, *arguments):
        left_out = ("GIT_", "PYTHON", "PYTEST")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(left_out)}
        done = subprocess.run(
            [str(program), "run", "--all-files", *arguments],
            cwd=folder,
            env=kept | home,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr

    return run


@pytest.fixture
def project(tmp_path, hooks):
    """Makes a repository of files whose names have spaces, with a hook that is configured."""

    def make(hook, lines, more="verbose: true"):
        for number, line in enumerate(lines):
            path = tmp_path / f"my models {number % 2}" / f"model no. {number}.py"
            path.parent.mkdir(exist_ok=True)
            path.write_text(BROKEN.format(line=line))
        (tmp_path / "notes.txt").write_text("print(1)\n")
        repository, rev = hooks
        (tmp_path / ".pre-commit-config.yaml").write_text(
            CONFIGURATION.format(repository=repository, rev=rev, hook=hook, more=more)
        )
        git(tmp_path, "init", "-q")
        git(tmp_path, "add", "-A")
        git(tmp_path, "commit", "-q", "-m", "start")
        return tmp_path

    return make


@pytest.mark.skipif(sys.platform == "win32", reason="paths of the shell")
def test_the_hook_finds_what_breaks(project, pre_commit):
    folder = project("breakscope", [BREAKS, CLEAN])
    code, text = pre_commit(folder)
    assert code == 1 and "model no. 0.py:6:" in text and "BRK201" in text
    assert "model no. 1.py" not in text and "notes.txt" not in text
    for path in folder.rglob("*.py"):
        path.write_text(BROKEN.format(line=CLEAN))
    git(folder, "add", "-A")
    assert pre_commit(folder)[0] == 0


def test_parallel_batches_find_the_same(project, pre_commit):
    lines = [BREAKS if number % 3 else CLEAN for number in range(40)]
    folder = project(
        "breakscope", lines, "require_serial: false\n        args: [--format, concise]"
    )
    code, text = pre_commit(folder)
    found = sorted(line.partition(":")[0] for line in text.splitlines() if "BRK201" in line)
    broken = [n for n, line in enumerate(lines) if line == BREAKS]
    assert code == 1
    assert found == sorted(f"my models {n % 2}/model no. {n}.py" for n in broken)


def test_the_fixing_hook_makes_the_safe_fixes(project, pre_commit):
    lines = [FIXABLE, CLEAN] * 6
    folder = project("breakscope-fix", lines, "require_serial: false")
    code, text = pre_commit(folder)
    assert code == 1 and "files were modified by this hook" in text
    changed = git(folder, "diff", "--name-only", "-z").strip("\0").split("\0")
    assert len(changed) == 6 and all(
        "graph_break" not in (folder / name).read_text() for name in changed
    )
    git(folder, "add", "-A")
    code, text = pre_commit(folder)
    assert code == 0, text
