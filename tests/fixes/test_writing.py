"""A changed file takes the place of the old one; what cannot be written is as it was."""

import os
import subprocess

import pytest

from breakscope.errors import UserError
from breakscope.fixes.commits import uncommitted
from breakscope.fixes.diff import unified_diff
from breakscope.fixes.writing import replace_file


def test_the_mode_stays_and_nothing_is_left_beside(tmp_path):
    file = tmp_path / "a.py"
    file.write_bytes(b"old")
    file.chmod(0o751)
    replace_file(str(file), b"old", b"new")
    assert file.read_bytes() == b"new" and file.stat().st_mode & 0o777 == 0o751
    assert [p.name for p in tmp_path.iterdir()] == ["a.py"]


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real.py").write_bytes(b"old")
    (tmp_path / "link.py").symlink_to("real.py")
    replace_file(str(tmp_path / "link.py"), b"old", b"new")
    assert (tmp_path / "link.py").is_symlink()
    assert (tmp_path / "real.py").read_bytes() == b"new"


def test_a_file_that_changed_meanwhile_is_left(tmp_path):
    (tmp_path / "a.py").write_bytes(b"changed")
    with pytest.raises(UserError, match="was changed meanwhile"):
        replace_file(str(tmp_path / "a.py"), b"old", b"new")
    assert (tmp_path / "a.py").read_bytes() == b"changed"


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    (tmp_path / "a.py").write_bytes(b"old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UserError, match="No space left"):
        replace_file(str(tmp_path / "a.py"), b"old", b"new")
    assert [(p.name, p.read_bytes()) for p in tmp_path.iterdir()] == [("a.py", b"old")]


def test_what_git_has_otherwise_is_named(tmp_path, monkeypatch):
    def git(*arguments):
        who = ("-c", "user.name=a", "-c", "user.email=a@b")
        subprocess.run(["git", *who, *arguments], cwd=tmp_path, check=True, capture_output=True)

    files = {name: tmp_path / name for name in ("same.py", "changed.py", "new.py", "crlf.py")}
    for name in ("same.py", "changed.py", "crlf.py"):
        files[name].write_bytes(b"x = 1\n")
    git("init", "-q")
    git("add", "same.py", "changed.py", "crlf.py")
    git("commit", "-qm", "first")
    files["changed.py"].write_bytes(b"x = 2\n")
    files["new.py"].write_bytes(b"x = 3\n")
    files["crlf.py"].write_bytes(b"x = 1\r\n")
    held = {str(path): path.read_bytes() for path in files.values()}
    assert uncommitted(held) == [str(files["changed.py"]), str(files["new.py"])]


def test_git_runs_nothing_that_the_repository_names(tmp_path):
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True, capture_output=True)
    touched = tmp_path / "touched"
    with open(tmp_path / ".git" / "config", "a") as config:
        config.write(
            f'[core]\n fsmonitor = "touch {touched}"\n[filter "x"]\n clean = touch {touched}\n'
        )
    (tmp_path / ".gitattributes").write_text("*.py filter=x\n")
    (tmp_path / "a.py").write_bytes(b"x\n")
    uncommitted({str(tmp_path / "a.py"): b"x\n"})
    assert not touched.exists()


def test_files_outside_of_repositories_are_not_named(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert uncommitted({str(tmp_path / "a.py"): b""}) == []


def test_a_diff_is_one_for_patch(tmp_path):
    old, new = b"a\nb", b"a\nc\nd"
    (tmp_path / "m.py").write_bytes(old)
    (tmp_path / "m.diff").write_text(unified_diff("m.py", old, new))
    done = subprocess.run(["patch", "-p0", "-i", "m.diff"], cwd=tmp_path, capture_output=True)
    assert done.returncode == 0 and (tmp_path / "m.py").read_bytes() == new
