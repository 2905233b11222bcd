"""A small program for a finding: it runs alone and shows the same."""

import ast
import subprocess
import sys

import pytest
from running import TARGETS

from breakscope.dynamic import RunOptions, run_fully
from breakscope.dynamic.child.repro.program import Form, calling, standing_alone, whole
from breakscope.dynamic.child.repro.reduce import reduced
from breakscope.errors import UserError

LARGE = """
import os
def helper(x):
    return x
@helper
def f(x, y: int = 3):
    for i in range(3):
        if x:
            y = helper(needed(x, y) + 1)
    try:
        z = 1
    except ValueError:
        z = 2
    return z
"""


def test_what_is_not_needed_goes():
    small = reduced(LARGE, lambda text: "needed" in text, lambda: True)
    assert len(small.splitlines()) <= 3 and "needed" in small
    assert reduced(LARGE, lambda text: False, lambda: True) == ast.unparse(ast.parse(LARGE))
    assert reduced(LARGE, lambda text: True, lambda: False) == ast.unparse(ast.parse(LARGE))


def test_every_candidate_can_be_read():
    tried = []

    def shows(text):
        tried.append(ast.parse(text))
        return "needed(x" in text and "try" in text

    small = reduced(LARGE, shows, lambda: True)
    assert "try" in small and len(tried) > 10


def test_a_file_of_a_package_stands_alone(tmp_path):
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "__init__.py").write_text("")
    file = tmp_path / "pkg" / "model.py"
    file.write_text(
        '"""Doc."""\nfrom .layers import Layer\nfrom . import more\nif __name__ == "__main__":\n    1\n'
    )
    source = standing_alone(file, "cuda")
    assert "from pkg.layers import Layer" in source and "from pkg import more" in source
    assert repr(str(tmp_path)) in source and "__main__" not in source and "'cuda'" in source
    lines = calling("function = f", {"backend": "eager", "drive": "", "calls": ""}, Form(3))
    assert "for _ in range(3):" in lines
    assert whole("x = 1", lines).startswith("import torch")


@pytest.mark.skipif(sys.platform == "win32", reason="candidates run in forks")
@pytest.mark.parametrize(
    "name, more, words",
    [
        ("decides", {}, "BRK101"),
        ("counts", {}, "attribute"),
        ("raising.py::make_scaled", {}, "BRK904 GB4315"),
    ],
)
def test_the_program_shows_the_same(tmp_path, name, more, words):
    pytest.importorskip("torch")
    file, _, name = f"large.py::{name}".rpartition("::")
    file = file.rpartition("::")[2]
    out = tmp_path / "small.py"
    options = RunOptions(
        file=str(TARGETS / file), name=name, vary=False, explain=False, device="cpu",
        backward=False, repro=str(out), **more,
    )  # fmt: skip
    ran = run_fully(options)
    (note,) = (text for text in ran.run.notes if text.startswith("repro: "))
    assert "it was run to see that" in note, note
    text = out.read_text()
    assert "Unused" not in text and "math" not in text
    assert len(text.splitlines()) < 25, text
    done = subprocess.run(
        [sys.executable, str(out)], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert (done.returncode != 0) is (name == "make_scaled"), done.stderr


def test_a_file_that_is_not_ours_stays(tmp_path):
    theirs = tmp_path / "train.py"
    theirs.write_text("import torch\n")
    for file in (str(theirs), str(tmp_path / "absent" / "x.py"), str(tmp_path)):
        with pytest.raises(UserError, match="--repro"):
            run_fully(RunOptions(file=str(TARGETS / "large.py"), name="counts", repro=file))
    assert theirs.read_text() == "import torch\n"
