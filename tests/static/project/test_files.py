"""Which files of a named folder are checked."""

from __future__ import annotations

import os

import pytest

from breakscope.static.project.files import python_files


@pytest.fixture
def tree(tmp_path):
    for name in ["a.py", "deps/b.py", "deps/lib/c.py", "out/d.py", "deps/out/e.py"]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    (tmp_path / ".git").mkdir()
    return tmp_path


def found(top, folder=".", exclude=()):
    return [os.path.relpath(f, top) for f in python_files([top / folder], exclude)]


def test_gitignore_of_a_folder_above(tree):
    (tree / ".gitignore").write_text("out/\n")
    assert found(tree, "deps") == ["deps/b.py", "deps/lib/c.py"]


@pytest.mark.parametrize("folder", ["deps", "deps/lib"])
def test_a_named_folder_is_walked_though_it_is_ignored(tree, folder):
    (tree / ".gitignore").write_text("deps/\n")
    assert found(tree) == ["a.py", "out/d.py"]
    assert "deps/lib/c.py" in found(tree, folder)


@pytest.mark.parametrize("glob", ["deps", "deps/", "deps/*", "*/b.py"])
def test_exclude(tree, glob):
    files = found(tree, exclude=(glob,))
    assert "a.py" in files
    assert "deps/b.py" not in files
