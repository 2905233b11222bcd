"""What rules ask for is kept from run to run, and never outlives what it was made from."""

import ast
import os
import shutil
import sys

import pytest

from breakscope import listeners
from breakscope.events import Event, ScalarRead
from breakscope.knowledge import judging_by, shipped
from breakscope.listeners import Listeners
from breakscope.rulebook import load_rules, rules_folder
from breakscope.values import Tensor

PYTHON = sys.version_info[:2]


@pytest.fixture(autouse=True)
def kept_apart(tmp_path, monkeypatch):
    """Nothing is kept yet, and what is written goes to a folder of the test's own."""
    for variable in ("XDG_CACHE_HOME", "LOCALAPPDATA", "HOME"):
        monkeypatch.setenv(variable, str(tmp_path / "cache"))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of two of the rules."""
    copied = tmp_path / "rules"
    copied.mkdir()
    for code in ("brk101", "brk201"):
        shutil.copy(next(rules_folder().glob(f"{code}_*.py")), copied)
    monkeypatch.setattr(listeners, "rules_folder", lambda: copied)
    return copied


@pytest.fixture
def loaded(monkeypatch):
    """How often all the rules of a folder were loaded."""
    times = []
    original = listeners.load_folder
    monkeypatch.setattr(listeners, "load_folder", lambda folder: times.append(folder) or original(folder))
    return times


def told(found: Listeners) -> list[tuple]:
    """Every handler with its rule's code, its fields, and the kinds and names of events that reach it."""
    asked = found.asked
    reached = [[] for _ in found.all]
    for kind, positions in asked.by_event.items():
        for at in positions:
            reached[at].append((kind, ""))
    for kind, text in asked.by_name.items():
        for name in [line.partition("\t")[0] for line in text.split("\n")[1:-1]]:
            for at in found.named[kind][name]:
                reached[at].append((kind, name))
    return [(x.rule.code, x.fields, sorted(reach)) for x, reach in zip(found.all, reached)]


def codes(found: Listeners) -> set[str]:
    return {listener.rule.code for listener in found.all}


@pytest.mark.parametrize("version", shipped())
def test_what_is_kept_is_what_the_rules_ask_for(version, loaded):
    with judging_by(version):
        first, again = listeners.listeners(PYTHON), listeners.listeners(PYTHON)
        rules = {rule.code: rule for rule in load_rules()}
        wanted = [
            (code, h.fields, sorted((h.event.__name__, name) for name in h.settled().names or ("",)))
            for code, rule in rules.items() if code in codes(again) for h in rule.handlers
        ]
    assert len(loaded) == 1 and told(first) == told(again) == wanted
    assert 100 < len(codes(again)) < len(rules)  # some have nothing to ask, or their pattern breaks in other versions only


def test_events_reach_those_who_ask(folder):
    found = listeners.listeners(PYTHON)
    node = ast.parse("f(x)", mode="eval").body
    item, other = (ScalarRead(node=node, source="f(x)", how=how, value=Tensor()) for how in ("item", "nothing"))
    assert {x.rule.code for x in found.to(item)} == {"BRK201"} and found.to(other) == []
    assert found.want("ScalarRead") and not found.want("torch.nothing")


def test_a_version_has_its_own(loaded):
    found = []
    for version in ("2.8.0", "2.13.0", "2.8.0"):
        with judging_by(version):
            found.append(told(listeners.listeners(PYTHON)))
    assert found[0] == found[2] != found[1] and len(loaded) == 2


def test_a_python_has_its_own(loaded):
    of_old, of_new = codes(listeners.listeners((3, 11))), codes(listeners.listeners((3, 13)))
    assert of_new < of_old and len(loaded) == 2


def test_only_rules_that_are_asked_are_loaded(folder, monkeypatch):
    listeners.listeners(PYTHON)
    read = []
    original = listeners.load_file
    monkeypatch.setattr(listeners, "load_file", lambda path, heavy: read.append(path.name) or original(path, heavy))
    listeners._loaded.cache_clear()
    found = listeners.listeners(PYTHON)
    assert read == [] and len(found.all) == 2
    assert found.all[0].rule.code == "BRK101" and len(read) == 1


@pytest.mark.parametrize("change", ["added", "removed", "edited", "touched", "damaged"])
def test_a_change_has_all_rules_read_again(folder, loaded, change):
    listeners.listeners(PYTHON)
    file = next(folder.glob("brk201_*.py"))
    if change == "added":
        shutil.copy(next(rules_folder().glob("brk202_*.py")), folder)
    elif change == "removed":
        file.unlink()
    elif change == "edited":
        file.write_text(file.read_text().replace("BRK201", "BRK299"))
    elif change == "touched":
        os.utime(file, ns=(1, 1))
    else:
        next((folder.parent / "cache").rglob("asked-*.json")).write_text('{"rules": 1}')
    found = codes(listeners.listeners(PYTHON))
    wanted = {"added": {"BRK101", "BRK201", "BRK202"}, "removed": {"BRK101"}}
    assert len(loaded) == 2
    if change != "edited":  # what was loaded of a path stays for this process
        assert found == wanted.get(change, {"BRK101", "BRK201"})
    listeners.listeners(PYTHON)
    assert len(loaded) == 2


def test_a_module_that_rules_import_counts(folder, loaded, monkeypatch, tmp_path):
    helper = tmp_path / "helper.py"
    helper.write_text("NAMES = 1\n")
    monkeypatch.setitem(sys.modules, "breakscope.helper", type(sys)("breakscope.helper"))
    sys.modules["breakscope.helper"].__file__ = str(helper)
    listeners.listeners(PYTHON)
    helper.write_text("NAMES = 12\n")
    listeners.listeners(PYTHON)
    assert len(loaded) == 2


def test_another_installation_has_its_own(folder, loaded, tmp_path, monkeypatch):
    listeners.listeners(PYTHON)
    other = tmp_path / "other"
    shutil.copytree(folder, other)
    monkeypatch.setattr(listeners, "rules_folder", lambda: other)
    monkeypatch.setattr(listeners, "number", lambda key: 0)
    listeners.listeners(PYTHON)
    monkeypatch.setattr(listeners, "rules_folder", lambda: folder)
    found = listeners.listeners(PYTHON)
    assert len(loaded) == 3 and {os.path.dirname(x.rule.path) for x in found.all} == {str(folder)}


def test_where_nothing_can_be_written_all_rules_are_read(folder, loaded, monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setattr(listeners, "_cache_file", lambda *_: tmp_path / "file" / "asked.json")
    first, again = listeners.listeners(PYTHON), listeners.listeners(PYTHON)
    assert told(first) == told(again) and len(loaded) == 2


def test_rules_of_the_user_are_read_each_time(folder, tmp_path, loaded):
    own = tmp_path / "own"
    own.mkdir()
    text = next(rules_folder().glob("brk202_*.py")).read_text()
    (own / "brk999_own.py").write_text(text.replace("BRK202", "BRK999"))
    assert "BRK999" in codes(listeners.listeners(PYTHON, (str(own),)))


def test_events_have_names_of_their_own():
    import breakscope.static.usage.file  # noqa: F401  # defines more of them

    kinds = Event.__subclasses__()
    assert len(kinds) > 15 and len({kind.__name__ for kind in kinds}) == len(kinds)
