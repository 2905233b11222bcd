"""check PATH...: findings in files that were not asked for are counted, and named in one line."""

import json
from itertools import chain

import pytest
from command import runner

from breakscope.report import formats
from breakscope.report.model import from_json
from breakscope.static.answer import union

MODEL = """\
import torch
from .helpers import clipped


class Model(torch.nn.Module):
    def forward(self, x):
        return clipped(x) * x.sum()
"""
HELPERS = """\
def clipped(x):
    if x.max() > 1:
        x = x / x.max()
    return x
"""
LINE = "1 finding in a file that was not asked for: pkg/helpers.py (--follow shows them)."


@pytest.fixture
def run(capsys):
    return runner(capsys)


@pytest.fixture
def package(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pkg").mkdir()
    for name, source in (("__init__", ""), ("model", MODEL), ("helpers", HELPERS)):
        (tmp_path / "pkg" / f"{name}.py").write_text(source)


def findings(done):
    return from_json(done.out.encode()).findings


def test_a_finding_elsewhere_is_counted_and_named(package, run):
    done = run("check", "pkg/model.py")
    assert (done.code, done.out) == (0, f"no breaks in 1 region of 1 file. {LINE}\n")


def test_follow_shows_it(package, run):
    done = run("check", "--follow", "pkg/model.py")
    assert done.code == 1
    assert done.out.startswith("pkg/helpers.py:2:8: BRK101 ")
    assert "not asked for" not in done.out


@pytest.mark.parametrize("paths", [["pkg"], ["pkg/model.py", "pkg/helpers.py"]])
def test_a_file_among_the_paths_is_asked_for(package, run, paths):
    done = run("check", "--format", "json", *paths)
    assert done.code == 1
    assert [(f.path, f.line) for f in findings(done)] == [("pkg/helpers.py", 2)]
    assert from_json(done.out.encode()).elsewhere == ()


@pytest.mark.parametrize("name", formats.names())
def test_every_format_leaves_it_out_and_says_so(package, run, name):
    done = run("check", "--format", name, "pkg/model.py")
    assert done.code == 0
    assert "BRK101" not in done.out
    # every entry of a code quality report is an issue of the merge request
    assert "pkg/helpers.py" in done.out or (name == "gitlab" and done.out == "[]\n")


def test_json_counts_by_file(package, run):
    report = json.loads(run("check", "--format", "json", "pkg/model.py").out)
    assert report["elsewhere"] == [{"path": "pkg/helpers.py", "findings": 1}]
    assert report["findings"] == [] and report["hidden"] == 0


def test_a_folder_shows_what_its_files_lead_to(package, run):
    """check FOLDER is the union of check --follow FILE, as far as it stands in the folder."""
    files = ("pkg/__init__.py", "pkg/model.py", "pkg/helpers.py")
    singles = [findings(run("check", "-f", "json", "--follow", file)) for file in files]
    whole = findings(run("check", "-f", "json", "pkg"))
    assert whole == union(singles) != ()
    assert set(whole) == set(chain(*singles))
