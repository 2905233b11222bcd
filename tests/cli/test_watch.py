"""check --watch: what came and went with each saved file."""

import threading
import time

import pytest
from command import BREAKS, CLEAN, runner

from breakscope.config import load_config
from breakscope.workflows.check import CheckOptions
from breakscope.workflows.rechecking import checked_again


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.py").write_text(CLEAN)
    return tmp_path


def news_of(steps):
    """The codes that came and went at each step, and how many errors there are; a step writes a
    file, and its file counts as saved."""

    def changes(paths):
        for step in steps:
            yield {str(step())}

    found = checked_again(CheckOptions(paths=("model.py",)), load_config, changes)
    return [
        ([f.code for f in n.came], [f.code for f in n.went], len(n.report.errors)) for n in found
    ]


def test_what_comes_and_goes(folder):
    file = folder / "model.py"

    def saved(text):
        return lambda: file.write_text(text) and file

    steps = [
        saved(BREAKS),
        saved("# moved\n" + BREAKS),
        saved(BREAKS.replace(".item()", "")),
        saved("def f(:\n  forward"),  # what was found is neither gone nor new
        saved(BREAKS.replace(".item()", "")),
        saved("def f(:\n  forward"),
        saved(CLEAN),
        lambda: folder / "notes.txt",  # no code
    ]
    assert news_of(steps) == [
        ([], [], 0),
        (["BRK101", "BRK201"], [], 0),
        ([], [], 0),
        ([], ["BRK201"], 0),
        ([], [], 1),
        ([], [], 0),
        ([], [], 1),
        ([], ["BRK101"], 0),
    ]


def test_a_file_may_go_and_settings_may_be_wrong(folder):
    file, settings = folder / "model.py", folder / "pyproject.toml"

    def gone():
        file.unlink()
        return file

    def wrong():
        file.write_text(BREAKS)
        settings.write_text("[tool.breakscope]\nselct = []\n")
        return settings

    def right():
        settings.write_text('[tool.breakscope]\nselect = ["BRK1"]\n')
        return settings

    assert news_of([gone, wrong, right]) == [
        ([], [], 0),
        ([], [], 1),
        ([], [], 1),
        (["BRK101"], [], 0),
    ]


def test_a_saved_file_is_checked_again(folder, capsys):
    """With the real watcher, until the user interrupts: here a thread that saves until it is seen."""
    watchfiles = pytest.importorskip("watchfiles")
    stop = threading.Event()
    watched = watchfiles.watch
    try:
        watchfiles.watch = lambda *paths, **more: watched(*paths, stop_event=stop, **more)
        seen = []

        def save():
            for number in range(600):
                if stop.is_set():
                    return
                (folder / "model.py").write_text(f"{BREAKS}# {number}\n")
                time.sleep(0.1)

        thread = threading.Thread(target=save)
        news = checked_again(CheckOptions(paths=("model.py",)), load_config)
        seen.append(next(news))
        thread.start()
        for new in news:
            if new.came:  # a file that is being written may be seen empty
                seen.append(new)
                stop.set()
                break
    finally:
        stop.set()
        watchfiles.watch = watched
    thread.join()
    assert seen[0].report.findings == () and {f.code for f in seen[1].came} == {"BRK101", "BRK201"}
    assert [path.rpartition("/")[2] for path in seen[1].changed] == ["model.py"]


def test_without_watchfiles_it_says_what_to_install(folder, capsys, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "watchfiles", None)
    done = runner(capsys)("check", "model.py", "--watch")
    assert done.code == 2 and "pip install watchfiles" in done.err
