"""Where the user's cache lies, and how files of it are written."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from breakscope.cache import cache_folder, state, write_over

elsewhere = pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="the cache lies elsewhere")


@elsewhere
@pytest.mark.parametrize("value", ["", "caches", "./caches"])
def test_a_cache_that_is_no_whole_path_does_not_count(monkeypatch, value):
    monkeypatch.setenv("XDG_CACHE_HOME", value)
    monkeypatch.setenv("HOME", "/home/somebody")
    assert cache_folder() == "/home/somebody/.cache/breakscope"


@elsewhere
def test_a_whole_path_counts(monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "/var/caches")
    assert cache_folder() == "/var/caches/breakscope"


def test_without_a_home_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(OSError):
        write_over(os.path.join("~", ".cache", "breakscope", "file"), b"data")
    assert not list(tmp_path.iterdir())


def test_a_file_is_written_over_and_nothing_stays_beside_it(tmp_path):
    file = tmp_path / "folder" / "file"
    for data in (b"long data", b"data"):
        write_over(str(file), data)
        assert file.read_bytes() == data and list(file.parent.iterdir()) == [file]
    assert state(str(file)) == (file.stat().st_mtime_ns, 4)


def test_what_cannot_be_written_leaves_nothing_behind(tmp_path):
    (tmp_path / "file" / "inside").mkdir(parents=True)
    with pytest.raises(OSError):
        write_over(str(tmp_path / "file"), b"data")
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]


def test_a_file_that_is_gone_has_no_state(tmp_path: Path):
    assert state(str(tmp_path / "gone")) is None
