"""Clean files are answered from the cache as long as nothing that the check read has changed."""

from __future__ import annotations

import json
import marshal
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MODEL = """import torch
from torch import nn

from helper import scaled


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def __len__(self):
        return 0

    def forward(self, x):
        return self.layer(scaled(x)) if len(self) == 0 else x
"""
HELPER = "def scaled(x):\n    return x * 2\n"
HEIR = "from model import Model\n\n\nclass Heir(Model):\n    def __len__(self):\n        return 1\n"
COMMAND = """import sys
from breakscope.unchanged import is_unchanged
print(is_unchanged(("model.py",)), flush=True)
from breakscope.__main__ import main
sys.argv = ["breakscope", "check", "model.py"]
main()
"""
LONG_AGO = time.time() - 1000


class Project:
    """A folder with a model that only the analyzer can clear, last changed long ago, and a cache of its own."""

    def __init__(self, folder: Path, cache: Path) -> None:
        self.folder, self.cache = folder, cache
        self.write("model.py", MODEL)
        self.write("helper.py", HELPER)

    def write(self, name: str, text: str, when: float = LONG_AGO) -> None:
        """Write a file, changed at that time; of what lies around it, only the folder of a new one changes too."""
        path = self.folder / name
        touched = [path] if path.exists() else [path, path.parent]
        path.write_text(text)
        for changed in touched:
            os.utime(changed, (when, when))

    def settle(self) -> None:
        for path in (*self.folder.rglob("*"), self.folder):
            os.utime(path, (LONG_AGO, LONG_AGO))

    def check(self, command: str = COMMAND, **environment: str) -> tuple[bool, int, str]:
        """Whether the cache knew the model; the check's exit code and what it says."""
        found = {**os.environ, "XDG_CACHE_HOME": str(self.cache), "PYTHONPATH": str(ROOT)}
        found["PYTHONPYCACHEPREFIX"] = str(self.cache / "bytecode")  # folders of ours stay as they are
        done = subprocess.run(
            [sys.executable, "-c", command], cwd=self.folder, env={**found, **environment}, capture_output=True, text=True
        )
        assert not done.stderr, done.stderr
        if command is not COMMAND:
            return False, done.returncode, done.stdout
        known, _, said = done.stdout.partition("\n")
        return known == "True", done.returncode, said

    def make_known(self) -> None:
        assert [self.check(), self.check()] == [(False, 0, ""), (True, 0, "")]

    def entries(self) -> list[Path]:
        return [*(self.cache / "breakscope" / "clean").glob("*")]


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def project(tmp_path, cache, monkeypatch):
    monkeypatch.delenv("BREAKSCOPE_NO_CACHE", raising=False)
    return Project(tmp_path, cache)


pytestmark = pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="the cache lies elsewhere")


def test_a_clean_file_is_known_the_next_time(project):
    project.make_known()
    assert project.check() == (True, 0, "")


LATER = LONG_AGO + 500
CHANGES = {  # each of one thing only, so that no other one gives it away
    "the file": lambda p: p.write("model.py", MODEL.replace("else x", "else x + 1")),
    "what it imports": lambda p: p.write("helper.py", "def scaled(x):\n    return x * x.item()\n", LATER),
    "what it imports, with the old time": lambda p: p.write("helper.py", "def scaled(x):\n    return x * x.item()\n"),
    "a new file that derives from its classes": lambda p: p.write("heir.py", HEIR, LATER),
    "a known file that derives from its classes now": lambda p: p.write("beside.py", HEIR),
    "what it imports is gone": lambda p: ((p.folder / "helper.py").unlink(), os.utime(p.folder, (LONG_AGO, LONG_AGO))),
    "settings": lambda p: (
        p.write("pyproject.toml", '[tool.breakscope]\nselect = ["BRK1"]\n'), os.utime(p.folder, (LONG_AGO, LONG_AGO))
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_of_what_the_check_read_asks_anew(project, change):
    project.write("beside.py", "")
    project.make_known()
    CHANGES[change](project)
    assert project.check()[0] is False


def test_a_new_break_behind_an_import_is_told(project):
    project.make_known()
    CHANGES["what it imports"](project)
    known, code, said = project.check()
    assert (known, code) == (False, 1) and "helper.py:2" in said
    assert project.check()[:2] == (False, 1)


def test_another_environment_is_another_check(project):
    project.make_known()
    assert project.check(VIRTUAL_ENV=str(project.folder))[0] is False


@pytest.mark.parametrize("name", ["BREAKSCOPE_NO_CACHE", "BREAKSCOPE_DEBUG"])
def test_it_can_be_turned_off(project, name):
    project.make_known()
    assert project.check(**{name: "1"}) == (False, 0, "")


@pytest.mark.parametrize("name", ["helper.py", "model.py", "."])
def test_what_changed_a_moment_ago_is_not_kept(project, name):
    now = time.time() + 60  # whatever time the checks take
    os.utime(project.folder / name, (now, now))
    assert [project.check()[0] for _ in range(2)] == [False, False]


def test_a_report_that_is_written_is_not_kept(project):
    project.write("pyproject.toml", '[tool.breakscope]\nformat = "json"\n')
    for _ in range(2):
        known, code, said = project.check()
        assert (known, code) == (False, 0) and said.startswith("{")


def test_a_cache_that_cannot_be_written_does_no_harm(project, tmp_path):
    project.cache = tmp_path / "model.py"  # no folder
    assert [project.check() for _ in range(2)] == [(False, 0, "")] * 2


def test_a_working_directory_that_is_gone_gets_one_line(tmp_path):
    command = [sys.executable, "-c", COMMAND.replace("import sys", "import os, sys\nos.rmdir(os.getcwd())", 1)]
    (tmp_path / "gone").mkdir()
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path / "gone", env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "False\n")
    assert done.stderr.startswith("breakscope: error: ") and done.stderr.count("\n") == 1


def test_damage_does_no_harm(project):
    project.make_known()
    for entry in project.entries():
        entry.write_bytes(b"\x00damaged")
    assert project.check() == (False, 0, "")
    assert project.check()[0] is True


def test_what_decided_is_noted(project):
    for entry in project.entries():
        entry.unlink()
    project.check()
    key, checked, states = marshal.loads(project.entries()[0].read_bytes())
    noted = {path for path, state in states.items() if state is not None}
    assert checked == {"model.py": MODEL.encode()}
    assert {str(project.folder), str(project.folder / "helper.py")} <= noted
    assert {str(ROOT / "breakscope/static/calls.py"), str(ROOT / "rules/brk201_item.py")} <= noted
    assert str(project.folder / "pyproject.toml") in states.keys() - noted


WATCHED = """import json, os, sys
read = set()
def note(event, arguments):
    if event in ("open", "os.listdir", "os.scandir") and isinstance(arguments[0], (str, os.PathLike)):
        read.add(os.path.abspath(arguments[0]))
import msgspec
import breakscope.__main__ as command
keep = command.keep
def told(*given):
    print(json.dumps(sorted(read)))
    keep(*given)
command.keep = told
sys.argv = ["breakscope", "check", "model.py"]
sys.addaudithook(note)
command.main()
"""


def test_all_that_a_check_reads_counts(project, tmp_path):
    """What Python says that the process opened and listed, beside the standard library and this tool."""
    packages = "environment/lib/python3.11/site-packages"
    for folder in (f"{packages}/layers-1.0.dist-info", f"{packages}/layers/inner", f"{packages}/other", "parts"):
        (tmp_path / folder).mkdir(parents=True)
    project.write(f"{packages}/layers/__init__.py", "from .inner import *\n")
    project.write(f"{packages}/layers/inner/__init__.py", "import torch\n\n\ndef twice(x):\n    return x * 2\n")
    project.write(f"{packages}/other/__init__.py", "def other():\n    pass\n")
    project.write("parts/__init__.py", "")
    project.write("parts/one.py", "def one(x):\n    return x + 1\n")
    project.write("heir.py", HEIR)
    more = "from layers import twice\nfrom other import other\nfrom parts.one import one\nfrom gone import nothing\n"
    project.write("model.py", MODEL.replace("from helper", more + "from helper").replace("scaled(x)", "one(twice(scaled(x)))"))
    project.settle()
    for entry in project.entries():
        entry.unlink()
    known, code, said = project.check(command=WATCHED, VIRTUAL_ENV=str(tmp_path / "environment"))
    assert code == 0, said
    read = {path for path in json.loads(said) if not path.endswith(".pyc")}
    states = marshal.loads(project.entries()[0].read_bytes())[2]
    ours = (str(ROOT / "breakscope"), str(ROOT / "rules"), str(project.cache), os.path.dirname(os.__file__))
    elsewhere = {path for path in read if not path.startswith(ours) or "site-packages" in path}
    assert {str(tmp_path / f"{packages}/layers/inner/__init__.py"), str(tmp_path / "parts/one.py")} <= elsewhere
    assert elsewhere - states.keys() == {str(tmp_path / "model.py")}
