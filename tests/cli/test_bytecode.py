"""Modules of ours come from one file of bytecode as long as their sources are what they were."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from breakscope.bytecode import Bytecode

ROOT = Path(__file__).resolve().parents[2]
MODEL = """import torch
from torch import nn


class Model(nn.Module):
    def __len__(self):
        return 0

    def forward(self, x):
        return x * 2 if len(self) == 0 else x
"""
COMMAND = """import json, os, sys
end = os._exit

def told(code):
    ours = {name: module for name, module in sys.modules.items() if name.startswith("breakscope.")}
    facts = {name: [type(m.__loader__).__name__, m.__file__, m.__spec__.cached, list(getattr(m, "__path__", []))] for name, m in ours.items()}
    print(json.dumps([code, facts]), flush=True)
    end(0)

os._exit = told
sys.argv = ["breakscope", "check", "model.py"]
from breakscope.__main__ import main
main()
"""
BEFORE = {"__main__", "bytecode", "cache", "exports", "glance", "unchanged"}


class Installation:
    """A copy of the package, with a file that only the analyzer can clear and a cache of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.cache = folder, folder / "cache"
        shutil.copytree(ROOT / "breakscope", folder / "breakscope", ignore=shutil.ignore_patterns("__pycache__", "knowledge_build"))
        (folder / "model.py").write_text(MODEL)

    def check(self, command: str = COMMAND, **environment: str) -> dict[str, list]:
        """What is known of each module of ours behind a check that has nothing to say."""
        wanted = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        wanted |= {"PYTHONPATH": str(self.folder), "XDG_CACHE_HOME": str(self.cache), "BREAKSCOPE_NO_CACHE": "1", **environment}
        ran = subprocess.run([sys.executable, "-c", command], cwd=self.folder, env=wanted, capture_output=True, text=True)
        assert ran.stdout, ran.stderr
        code, facts = json.loads(ran.stdout)
        assert code == 0 and ran.stderr == ""
        assert all(fact[1].startswith(str(self.folder)) for fact in facts.values())
        return {name.removeprefix("breakscope."): fact for name, fact in facts.items()}

    def otherwise(self, command: str = COMMAND) -> set[str]:
        """The modules that do not come from the file."""
        return {name for name, fact in self.check(command).items() if fact[0] != "_Loader"}

    @property
    def file(self) -> Path:
        found, = (self.cache / "breakscope").glob("modules.*")
        return found


@pytest.fixture
def installation(tmp_path):
    if sys.platform in ("win32", "darwin"):
        pytest.skip("the cache lies elsewhere")
    return Installation(tmp_path)


def test_all_but_the_first_modules_come_from_the_file(installation):
    """They are what they would be otherwise. (The first check also imports what rules need that say nothing here.)"""
    first, again = installation.check(), installation.check()
    assert {fact[0] for fact in first.values()} == {"SourceFileLoader"}
    assert {name for name, fact in again.items() if fact[0] == "SourceFileLoader"} == BEFORE and len(again) > 80
    assert {name: first[name][1:] for name in again} == {name: fact[1:] for name, fact in again.items()}


def test_a_module_that_was_changed_is_imported_as_ever(installation):
    installation.check()
    changed = installation.folder / "breakscope" / "static" / "calls.py"
    changed.write_text(changed.read_text() + "CHANGED = 1\n")
    assert installation.otherwise() == BEFORE | {"static.calls"}
    assert installation.otherwise() == BEFORE


def test_modules_that_other_checks_import_are_added(installation):
    installation.check()
    (installation.folder / "model.py").write_text("import torch\n\n\ndef forward(x):\n    return torch.compile(x)\n")
    assert "plain.wrapping" in installation.otherwise() - BEFORE
    assert installation.otherwise() == BEFORE
    (installation.folder / "model.py").write_text(MODEL)
    assert installation.otherwise() == BEFORE


@pytest.mark.parametrize("damage", [lambda data: b"", lambda data: b"\xff" * 9, lambda data: data[: len(data) // 2], lambda data: data[:99]])
def test_a_damaged_file_is_mended(installation, damage):
    installation.check()
    installation.file.write_bytes(damage(installation.file.read_bytes()))
    assert BEFORE < installation.otherwise()  # and it is written again
    assert installation.otherwise() == BEFORE


def test_in_a_long_path(tmp_path):
    installation = Installation(tmp_path.joinpath(*(["long" * 40] * 4)))
    installation.check()
    assert installation.file.read_bytes()[2] > 0 and installation.otherwise() == BEFORE


class PutOff(ModuleType):
    """A module that is read from its file as soon as anybody asks it for anything, as importlib.util.LazyLoader makes it."""

    def __getattribute__(self, name: str) -> object:
        raise AssertionError("was looked at")


def test_modules_of_others_are_not_looked_at(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    bytecode = Bytecode()
    monkeypatch.setitem(sys.modules, "put_off", PutOff("put_off"))
    bytecode.keep()
    assert not list(tmp_path.rglob("modules.*"))


def test_where_python_keeps_no_bytecode_all_is_imported_as_ever(installation):
    without = COMMAND.replace("sys.argv =", "sys.implementation.cache_tag = None\nsys.argv =")
    assert BEFORE < installation.otherwise(without)
    assert not list(installation.cache.rglob("modules.*"))


def test_a_moved_installation_has_its_own(installation, tmp_path):
    installation.check()
    file = installation.file
    (tmp_path / "other").mkdir()
    other = Installation(tmp_path / "other")
    other.check()
    shutil.copy(file, other.file)
    assert BEFORE < other.otherwise()


def test_nothing_is_written_where_python_writes_no_bytecode(installation):
    installation.check(PYTHONDONTWRITEBYTECODE="1")
    assert not list(installation.cache.rglob("modules.*"))


def test_where_nothing_can_be_written_all_is_imported_as_ever(installation):
    installation.cache.mkdir()
    (installation.cache / "breakscope").touch()
    installation.check()
    assert BEFORE < installation.otherwise()
