"""What is stored comes back whole, or not at all."""

import os
import stat

import pytest

from breakscope.store import Refused, Store, default_folder, opened

NAME, OTHER = "a" * 64, "b" * 64
MOST = 1000
DATA = bytes(range(256)) * 2

pytestmark = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="users cannot be told apart")


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "user" / "breakscope"


@pytest.fixture
def store(folder):
    store = Store(str(folder))
    yield store
    store.close()


def test_it_comes_back(store, folder):
    assert store.get(NAME, MOST) is None
    store.put(NAME, DATA)
    assert store.get(NAME, MOST) == DATA
    store.put(NAME, b"")
    assert store.get(NAME, MOST) == b""
    assert os.listdir(folder) == [NAME]


def test_it_is_the_users_alone(store, folder):
    store.put(NAME, DATA)
    assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700
    assert stat.S_IMODE(os.stat(folder / NAME).st_mode) == 0o600


def test_every_damaged_byte_is_noticed(store, folder):
    store.put(NAME, DATA)
    whole = (folder / NAME).read_bytes()
    for place in range(len(whole)):
        (folder / NAME).write_bytes(
            whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :]
        )
        assert store.get(NAME, MOST) is None
        (folder / NAME).write_bytes(whole[:place])
        assert store.get(NAME, MOST) is None
    (folder / NAME).write_bytes(whole + b"more")
    assert store.get(NAME, MOST) is None


def test_what_is_too_large_is_not_read(store, folder):
    store.put(NAME, DATA)
    assert store.get(NAME, len(DATA)) == DATA
    assert store.get(NAME, len(DATA) - 1) is None
    os.truncate(folder / NAME, 5_000_000_000)
    assert store.get(NAME, MOST) is None


def test_links_are_not_followed(store, folder, tmp_path):
    store.put(NAME, DATA)
    (folder / NAME).rename(tmp_path / "elsewhere")
    (folder / NAME).symlink_to(tmp_path / "elsewhere")
    assert store.get(NAME, MOST) is None
    store.put(NAME, b"new")
    assert store.get(NAME, MOST) == b"new" and not (folder / NAME).is_symlink()
    assert (tmp_path / "elsewhere").read_bytes().endswith(DATA)


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o640, 0o604])
def test_files_that_are_open_to_others_are_not_read(store, folder, mode):
    store.put(NAME, DATA)
    (folder / NAME).chmod(mode)
    assert store.get(NAME, MOST) is None


def test_a_fifo_is_not_waited_for(store, folder):
    os.mkfifo(folder / NAME, 0o600)
    assert store.get(NAME, MOST) is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_what_belongs_to_another_user_is_not_read(store, folder):
    store.put(NAME, DATA)
    os.chown(folder / NAME, 12345, -1)
    assert store.get(NAME, MOST) is None
    os.chown(folder, 12345, -1)
    with pytest.raises(Refused, match="belongs to another user"):
        Store(str(folder))


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o701, 0o777, 0o750])
def test_a_folder_that_is_open_to_others_is_refused(folder, mode):
    folder.mkdir(parents=True)
    folder.chmod(mode)
    with pytest.raises(Refused, match="is open to others"):
        Store(str(folder))


def test_a_link_to_a_folder_is_refused(store, folder, tmp_path):
    (tmp_path / "link").symlink_to(folder)
    with pytest.raises(Refused, match="cannot be opened"):
        Store(str(tmp_path / "link"))


@pytest.mark.parametrize("name", ["file", "file/inner", "a\0b", "/dev/null/inner"])
def test_where_no_folder_can_be(name, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(Refused, match="cannot be opened"):
        Store(os.path.join(tmp_path, name))
    with opened(os.path.join(tmp_path, name)) as store:
        assert store is None


def test_a_folder_that_takes_another_ones_place_is_not_used(store, folder):
    store.put(NAME, DATA)
    folder.rename(folder.with_name("before"))
    folder.mkdir(mode=0o777)
    store.put(OTHER, DATA)
    assert not os.listdir(folder) and store.get(OTHER, MOST) == DATA


def test_the_oldest_files_are_dropped(store, folder):
    names = [f"{number:064x}" for number in range(8)]
    for age, name in enumerate(names):
        store.put(name, bytes(68))  # 100 with its checksum
        os.utime(folder / name, (age, age))
    store.trim(800)
    assert sorted(os.listdir(folder)) == names
    store.trim(799)
    assert sorted(os.listdir(folder)) == names[3:]


def test_nothing_else_is_cleared(store, folder):
    store.put(NAME, DATA)
    store.put(OTHER, DATA)
    (folder / "mine.txt").write_text("text")
    (folder / ("c" * 64)).mkdir()
    assert store.clear() == 2
    assert sorted(os.listdir(folder)) == ["c" * 64, "mine.txt"]


def test_where_it_is(monkeypatch, tmp_path):
    monkeypatch.setenv("BREAKSCOPE_CACHE_DIR", "named")
    assert default_folder() == "named"
    monkeypatch.delenv("BREAKSCOPE_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_folder() == str(tmp_path / "breakscope" / "answers")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_folder() == str(tmp_path / ".cache" / "breakscope" / "answers")
    monkeypatch.setenv("HOME", "relative")
    assert default_folder() == ""
