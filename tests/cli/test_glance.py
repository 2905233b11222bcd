"""The first look at files, which clears most of them: it must not clear what the analyzer would speak of."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from breakscope.glance import is_clean
from breakscope.static.analyze import may_matter

ROOT = Path(__file__).resolve().parents[2]

NOT_CLEARED = {
    "a module": "import torch\nclass A(torch.nn.Module):\n    pass\n",
    "a forward": "def forward(x):\n    return x\n",
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


def test_what_the_analyzer_would_look_at_is_not_cleared(file):
    for folder, _, names in os.walk(ROOT / "samples"):
        for name in names:
            path = os.path.join(folder, name)
            if name.endswith(".py"):
                data = open(path, "rb").read()
                assert not (may_matter(data) and is_clean((path,))), path


def test_a_folder_or_another_kind_of_file_is_not_cleared(file, tmp_path):
    assert not is_clean((str(tmp_path),)) and not is_clean((str(tmp_path / "none.py"),)) and not is_clean(())


def test_a_configuration_is_read(file):
    file.write_text("x = 1\n")
    assert is_clean((str(file),))
    (file.parent / "pyproject.toml").write_text("[tool.breakscope]\nselect = ['NONE']\n")
    assert not is_clean((str(file),))


def test_a_cleared_file_costs_no_analyzer_and_no_words(file):
    file.write_text("x = '\\d' is 'd'\n")  # Python warns of both
    code = (
        "import sys; from breakscope.__main__ import main; code = main(['check', 'file.py'])\n"
        "print(code, [m for m in ('breakscope.static', 'msgspec', 'dataclasses', 'ast') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    assert (done.stdout, done.stderr) == ("0 []\n", "")
