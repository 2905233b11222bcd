"""With the programs that people run cells in: IPython and nbconvert, as the package index has them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.packaging
SESSION = """\
import torch, breakscope

@torch.compile(backend="eager")
def step(x):
    if x.sum() > 0:
        x = x + 1
    return x * 2

with breakscope.watch() as seen:
    step(torch.ones(2))

print([(f.code, f.source[-1]) for f in seen.breaks])
seen
"""
CELLS = (
    "%matplotlib inline\nimport torch\nfrom torch import nn",
    "!ls\nclass Model(nn.Module):\n    def forward(self, x):\n"
    "        if x.sum() > 0:\n            x = x + 1\n        return x.sum().item()",
    "%%bash\necho done",
    "%time model = torch.compile(Model())",
)


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """Runs a module of the installed programs beside this environment."""
    folder = tmp_path_factory.mktemp("programs")
    pip = [sys.executable, "-m", "pip", "install", "-q", "--target", folder]
    subprocess.run([*pip, "ipython", "nbconvert"], check=True, capture_output=True)
    paths = os.pathsep.join((str(folder), str(ROOT)))
    environment = {
        **os.environ,
        "PYTHONPATH": paths,
        "IPYTHONDIR": str(folder / "settings"),
        "JUPYTER_PATH": str(folder / "share" / "jupyter"),
    }

    def run(*arguments, cwd, text=None, codes=(0,)):
        command = [sys.executable, "-m", *map(str, arguments)]
        done = subprocess.run(
            command, cwd=cwd, env=environment, input=text, capture_output=True, text=True
        )
        assert done.returncode in codes, done.stdout + done.stderr
        return done.stdout

    return run


@pytest.mark.nightly
def test_ipython_shows_what_a_cell_does(python, tmp_path):
    pytest.importorskip("torch")
    options = ("--no-banner", "--colors=NoColor", "--HistoryManager.enabled=False")
    printed = python("IPython", *options, cwd=tmp_path, text=SESSION)
    assert "[('BRK101', '    if x.sum() > 0:')]" in printed
    assert "<breakscope report: 2 graphs" in printed


def test_a_notebook_is_checked_as_what_nbconvert_makes_of_it(python, tmp_path):
    cells = [
        {"cell_type": "code", "id": f"c{number}", "metadata": {}, "execution_count": None}
        | {"outputs": [], "source": text}
        for number, text in enumerate(CELLS)
    ]
    kind = {"language_info": {"name": "python", "file_extension": ".py"}}
    book = {"cells": cells, "metadata": kind, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "book.ipynb").write_text(json.dumps(book))
    python("nbconvert", "--to", "python", "--output", "converted", "book.ipynb", cwd=tmp_path)

    def found(file):
        options = ("--format", "json", "--no-cache")
        printed = python("breakscope", "check", *options, file, cwd=tmp_path, codes=(0, 1))
        report = json.loads(printed)
        assert report["errors"] == []
        return [(f["code"], f["source"][-1], f["cell"]) for f in report["findings"]]

    of_cells, of_script = found("book.ipynb"), found("converted.py")
    assert [one[:2] for one in of_cells] == [one[:2] for one in of_script]
    assert [code for code, *_ in of_cells] == ["BRK101", "BRK201"]
    assert [(cell["number"], cell["line"]) for *_, cell in of_cells] == [(2, 4), (2, 6)]
    assert [cell for *_, cell in of_script] == [None, None]
