"""The options of the result cache, and breakscope cache."""

import os
from pathlib import Path

import pytest
from command import BREAKS, runner

pytestmark = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="users cannot be told apart")


@pytest.fixture
def run(capsys):
    return runner(capsys)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.py").write_text(BREAKS)
    return tmp_path


def count(folder: Path) -> int:
    return len(list(folder.iterdir())) if folder.exists() else 0


def test_check_keeps_answers_where_it_is_told(folder, run):
    cold = run("check", "model.py", "--cache-dir", "kept")
    assert cold.code == 1 and count(folder / "kept") == 1
    assert run("check", "model.py", "--cache-dir", "kept") == cold
    assert count(folder / "kept") == 1


def test_the_short_way_keeps_them_too(folder, run, monkeypatch):
    monkeypatch.setenv("BREAKSCOPE_CACHE_DIR", str(folder / "named"))
    cold = run("check", "model.py")
    assert count(folder / "named") == 1
    assert run("check", "model.py") == cold == run("check", "model.py", "--no-cache")


def test_in_the_cache_folder_of_the_user(folder, run, monkeypatch):
    monkeypatch.delenv("BREAKSCOPE_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "user"))
    run("check", "model.py")
    assert run("cache", "dir").out == f"{folder}/user/breakscope/answers\n"
    assert count(folder / "user" / "breakscope" / "answers") == 1


@pytest.mark.parametrize("way", ["option", "configuration"])
def test_none_are_kept_where_none_are_wanted(folder, run, way):
    if way == "configuration":
        (folder / "pyproject.toml").write_text("[tool.breakscope]\ncache = false\n")
    more = ["--no-cache"] if way == "option" else []
    assert run("check", "model.py", "--cache-dir", "kept", *more).code == 1
    assert not (folder / "kept").exists()


def test_clear(folder, run):
    run("check", "model.py", "--cache-dir", "kept")
    (folder / "kept" / "notes.txt").write_text("mine")
    assert run("cache", "clear", "--cache-dir", "kept").out == "1 stored answer removed\n"
    assert run("cache", "clear", "--cache-dir", "kept").out == "0 stored answers removed\n"
    assert os.listdir(folder / "kept") == ["notes.txt"]


def test_a_folder_that_is_not_used_is_explained(folder, run):
    (folder / "open").mkdir()
    (folder / "open").chmod(0o777)
    assert run("check", "model.py", "--cache-dir", "open").code == 1
    assert count(folder / "open") == 0
    for command in ("dir", "clear"):
        done = run("cache", command, "--cache-dir", "open")
        assert (done.code, done.out) == (2, "")
        assert done.err == (
            "breakscope: error: the cache is not used: open is open to others; "
            "it must be yours and have the mode 700\n"
        )


def test_no_folder_at_all(folder, run, monkeypatch):
    monkeypatch.delenv("BREAKSCOPE_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setenv("HOME", "relative")
    assert run("check", "model.py").code == 1
    assert run("cache", "dir").err.startswith("breakscope: error: there is no cache folder")
    assert sorted(os.listdir(folder)) == ["model.py"]


def test_a_project_does_not_say_where(folder, run):
    (folder / "pyproject.toml").write_text('[tool.breakscope]\ncache-dir = "/tmp/elsewhere"\n')
    done = run("check", "model.py")
    assert done.code == 2 and "unknown key 'cache-dir'" in done.err
