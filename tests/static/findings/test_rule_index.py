"""What rules listen to is known without loading them, and never from what they were before."""

import importlib
import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from breakscope.knowledge import shipped, targeting
from breakscope.knowledge.tables import Knowledge
from breakscope.rulekit.loader import load_folder, load_rules, rules_folder
from breakscope.static.findings import rule_index
from breakscope.static.findings.rule_index import LEFT_OUT, Index, rules_to_match

RULE = '''"""A rule."""
from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule("BRK4{number:02}", "rule")

@rule.on(Call, "time.{name}", lambda: ["time.later"])
def check(event):
    return ["{name}"]
'''


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """The folder of the shipped rules: there is one, and bytecode may be written."""
    monkeypatch.setattr(rule_index, "rules_folder", lambda: str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    write(tmp_path, 1, "sleep")
    return tmp_path


def write(folder: Path, number: int, name: str) -> None:
    text = RULE.format(number=number, name=name)
    (folder / f"brk4{number:02}.py").write_text(text, encoding="utf-8")


def known() -> list[tuple[str, frozenset[str]]]:
    """Code and names of the rules, as a new process would know them."""
    rules_to_match.cache_clear()
    rule_index._loaded.cache_clear()
    return [(rule.code, rule.handlers[0].settled().names) for rule in rules_to_match()]


def index(folder: Path) -> Path:
    (found,) = folder.glob("__pycache__/*.index")
    return found


def refuse(*given: object) -> None:
    raise AssertionError("was loaded")


@pytest.fixture
def kept(folder) -> Path:
    """The folder when its index was written."""
    known()
    assert index(folder).stat().st_size
    return folder


def test_a_kept_index_says_what_the_files_say():
    loaded = load_rules()
    kept = Index(b"", tuple(map(rule_index._without_functions, loaded)))
    read = msgspec.msgpack.decode(msgspec.msgpack.encode(kept), type=Index)
    found = [rule_index._with_functions(rule, rules_folder()) for rule in read.rules]
    for rule, same in zip(loaded, found, strict=True):
        plain = [name for name in rule.__struct_fields__ if name not in LEFT_OUT]
        assert all(getattr(rule, name) == getattr(same, name) for name in plain)
        assert (rule.rewriter is None) == (same.rewriter is None)
        for version in shipped():
            with targeting(version):
                of = [(h.event, h.fields, h.settled().names) for h in rule.handlers]
                assert of == [(h.event, h.fields, h.settled().names) for h in same.handlers]


def test_the_files_are_loaded_only_when_a_function_is_called(kept, monkeypatch):
    monkeypatch.setattr(rule_index, "load_folder", refuse)
    rules_to_match.cache_clear()
    rule_index._loaded.cache_clear()
    (rule,) = rules_to_match()
    assert rule.code == "BRK401" and not rule_index._loaded.cache_info().currsize
    assert rule.handlers[0].check(None) == ["sleep"] and rule_index._loaded.cache_info().currsize


def test_a_changed_file_is_loaded(kept):
    write(kept, 1, "monotonic")
    assert known() == [("BRK401", {"time.monotonic", "time.later"})]


def test_files_that_come_and_go_are_seen(kept):
    write(kept, 2, "time")
    assert [code for code, _ in known()] == ["BRK401", "BRK402"]
    (kept / "brk401.py").unlink()
    assert [code for code, _ in known()] == ["BRK402"]


def test_a_change_that_leaves_size_and_time_counts(kept):
    path = kept / "brk401.py"
    before = path.stat()
    path.write_text(path.read_text().replace("sleep", "clock"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    importlib.invalidate_caches()
    assert rule_index._kept(str(kept), rule_index._digest(str(kept))) is None


def test_what_the_rules_import_counts():
    """All of ours that is imported when the rules are loaded is part of the digest."""
    code = (
        "import sys\n"
        "from breakscope.rulekit.loader import load_folder, rules_folder\n"
        "load_folder(rules_folder())\n"
        "print(*(m.__file__ for n, m in sys.modules.items() if n.startswith('breakscope.')), sep='\\n')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    counted = {os.path.realpath(path) for path in rule_index._files(rules_folder())}
    imported = {os.path.realpath(path) for path in done.stdout.split()}
    assert len(imported) > 10 and imported <= counted


@pytest.mark.parametrize("data", [b"", b"\x93", b"nothing of ours", b"\x93\xa0\x80\x90"])
def test_what_is_no_index_is_written_anew(kept, data):
    whole = index(kept).read_bytes()
    index(kept).write_bytes(data)
    assert known() == [("BRK401", {"time.sleep", "time.later"})]
    assert index(kept).read_bytes() == whole


def test_nothing_is_kept_where_python_writes_no_bytecode(folder, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    known()
    assert not list(folder.glob("__pycache__/*.index*"))


def test_no_rule_needs_a_table_to_be_loaded(monkeypatch):
    monkeypatch.setattr(Knowledge, "_read", refuse)
    assert load_folder(rules_folder())
