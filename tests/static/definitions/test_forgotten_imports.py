"""What an import names is kept by the import itself: that of a function's body is forgotten with its frame."""

from types import SimpleNamespace

from breakscope.rulekit.values import External
from breakscope.static.definitions import names
from breakscope.static.machine.state import Objects
from breakscope.static.project.modules import Import


def test_an_import_that_takes_the_place_of_a_forgotten_one_is_followed_anew(monkeypatch):
    machine = SimpleNamespace(objects=Objects())
    monkeypatch.setattr(names, "import_step", lambda _, imported: External(imported.member))
    found = [
        names.resolve_import(machine, Import("parts", f"part{number}", None)).name
        for number in range(20)
    ]
    assert found == [f"part{number}" for number in range(20)]
