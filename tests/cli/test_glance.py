"""The first look at files, which clears most of them: it must not clear what the analyzer would speak of."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from breakscope.glance import is_clean
from breakscope.static import StaticOptions, analyze
from breakscope.static.suspects import may_matter

ROOT = Path(__file__).resolve().parents[2]

MODEL = """import torch
from torch import nn


class Base(nn.Module):
    def __init__(self, width, act=None):
        super().__init__()
        self.layer, self.act = nn.Linear(width, width), act

    def forward(self, x):
        return self.act(self.layer(x)) if self.act is not None else self.layer(x)
"""
OTHER = """from torch import nn


class Other(nn.Module):
    def total(self, x):
        return x.sum()
"""
HEIR = """class Heir(Other):
    def forward(self, x):
        return self.total(x) * 2
"""
NOT_CLEARED = {
    "a branch": MODEL.replace("        return", "        if x.sum() > 0:\n            x = -x\n        return"),
    "a hook": MODEL.replace("act\n\n", "act\n        self.register_forward_hook(print)\n\n"),
    "a compiled model": MODEL + "model = torch.compile(Base(2))\n",
    "another forward": MODEL + "Base.forward = lambda self, x: x.item()\n",
    "a compiled function": "import torch\nf = torch.compile(abs)\n",
    "a compiled function by another name": "from torch import compile as c\nf = c(abs)\n",
    "a setting": "import torch._dynamo.config as c\nc.suppress_errors = True\n",
    "no Python": "def f(:\n",
    "a null byte": "x = 1\0\n",
}


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path / "file.py"


@pytest.mark.parametrize("name", NOT_CLEARED)
def test_what_needs_a_closer_look_gets_one(name, file):
    file.write_text(NOT_CLEARED[name])
    assert not is_clean((str(file),))


def test_a_plain_model_is_cleared(file):
    file.write_text(MODEL)
    assert is_clean((str(file),))


def test_a_base_counts_where_the_analyzer_reads_it(file):
    file.write_text("from others import Other\n\n\n" + HEIR)
    assert is_clean((str(file),)) and not analyze([file]).findings  # nobody knows the package
    other = file.parent / "others.py"
    other.write_text(OTHER)
    assert is_clean((str(file),)) and not analyze([file]).findings
    other.write_text(OTHER.replace("x.sum()", "x.sum().item()"))
    assert not is_clean((str(file),)) and analyze([file]).findings


def test_what_heirs_in_a_file_beside_hand_on_counts(file):
    file.write_text(MODEL.replace("self.act(self.layer(x)) if self.act is not None", "self.layer(x) * 2 if self.act"))
    heir = file.parent / "heir.py"
    trainer = "class Trainer(list):\n    def make(self):\n        return file.Base(2)\n"
    for text in ("class Other:\n    pass\n", trainer):
        heir.write_text("import file\n" + text)
        assert is_clean((str(file),))
    for handed, is_cleared in (("None", True), ("0.5", True), ("torch.ones(1)", False)):
        heir.write_text(f"import torch\nfrom file import Base\n\n\nclass Heir(Base):\n    def __init__(self):\n"
                        f"        super().__init__(2, act={handed})\n")
        assert is_clean((str(file),)) == is_cleared == (not analyze([file]).findings), handed


def test_samples_that_break_are_not_cleared(monkeypatch):
    monkeypatch.chdir(ROOT.parent)
    for path in (ROOT / "samples").glob("*.py"):
        data = path.read_bytes()
        assert not (may_matter(data) and is_clean((str(path),))) or not analyze([path]).findings, path


def test_what_was_parsed_is_handed_on(file):
    file.write_text(NOT_CLEARED["a branch"])
    trees = {}
    assert not is_clean((str(file),), trees)
    data, tree = trees[str(file)]
    assert data == file.read_bytes()
    tree.body.clear()  # the analyzer takes this tree: it finds nothing in an empty one
    assert not analyze([file], StaticOptions(trees=trees)).findings
    file.write_text(NOT_CLEARED["a branch"] + "\n")  # but not when the file was written again
    assert [f.code for f in analyze([file], StaticOptions(trees=trees)).findings] == ["BRK101"]


def test_a_folder_or_another_kind_of_file_is_not_cleared(file, tmp_path):
    assert not is_clean((str(tmp_path),)) and not is_clean((str(tmp_path / "none.py"),)) and not is_clean(())


def test_a_configuration_is_read(file):
    file.write_text("x = 1\n")
    assert is_clean((str(file),))
    (file.parent / "pyproject.toml").write_text("[tool.breakscope]\nselect = ['NONE']\n")
    assert not is_clean((str(file),))


@pytest.mark.parametrize("text", ["x = '\\d' is 'd'\n", MODEL])  # Python warns twice of the first
def test_a_cleared_file_costs_no_analyzer_and_no_words(file, text):
    file.write_text(text)
    code = (
        "import sys; before = set(sys.modules)  # an editable install's finder brings some of them\n"
        "from breakscope.__main__ import main; code = main(['check', 'file.py'])\n"
        "slow = {'breakscope.static', 'msgspec', 'dataclasses', 'ast', 're', 'json', 'typing'}\n"
        "print(code, sorted(slow & (sys.modules.keys() - before)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    assert (done.stdout, done.stderr) == ("0 []\n", "")
