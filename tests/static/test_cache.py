"""A check with answers of earlier ones is the check without them."""

import hashlib
import importlib.util
import os
import random
import subprocess
import sys
import zlib
from functools import partial
from pathlib import Path

import edits
import msgspec
import pytest
from programs import TORCH, write

from breakscope import limits
from breakscope.environment import import_folders
from breakscope.knowledge import targeting
from breakscope.static import StaticOptions, analyze, cache
from breakscope.static.answer import Answer, Settings
from breakscope.static.one_file import Analyzer
from breakscope.static.project.files import python_files
from breakscope.static.project.reads import Reads
from breakscope.static.project.recursion import with_room

pytestmark = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="users cannot be told apart")

ROOT = Path(__file__).resolve().parents[2]
BREAKS = (
    "import torch\n\nclass M(torch.nn.Module):\n    def forward(self, x):\n        return x{}\n"
)
FILES = {
    "pkg/__init__.py": "",
    "pkg/model.py": """\
        import torch
        from pkg.helper import read

        class Model(torch.nn.Module):
            def forward(self, x):
                return self.step(read(x))
            def step(self, x):
                return x
        """,
    "pkg/helper.py": "def read(x):\n    return x.item()\n",
    "pkg/derived.py": """\
        import torch
        from pkg.model import Model

        class Derived(Model):
            def step(self, x):
                return x.tolist()
        """,
    "pkg/plain.py": "VALUE = 1\n",
}


@pytest.fixture
def folder(tmp_path):
    write(tmp_path / "project", FILES)
    return tmp_path / "project"


@pytest.fixture
def stored(tmp_path):
    """The folder of the cache."""
    return tmp_path / "cache"


class Checks:
    """Checks by way of a cache, which count the files that were analysed."""

    def __init__(self, stored, monkeypatch):
        self.stored, self.analysed = stored, []
        original = Analyzer.analyze

        def analyze(analyzer, path):
            self.analysed.append(os.path.basename(path))
            return original(analyzer, path)

        monkeypatch.setattr(Analyzer, "analyze", analyze)

    def __call__(self, *paths, **options):
        """The result, and the files that were analysed for it."""
        self.analysed.clear()
        wanted = StaticOptions(torch=TORCH, **options)
        result = analyze(paths, wanted, cache=str(self.stored))
        fresh = sorted(self.analysed)
        assert result == analyze(paths, wanted)
        return result, fresh


@pytest.fixture
def check(stored, monkeypatch):
    return Checks(stored, monkeypatch)


ALL = sorted(os.path.basename(name) for name in FILES)


def test_a_second_check_analyses_nothing(check, folder):
    cold, analysed = check(folder)
    assert analysed == ALL and cold.findings and cold.regions
    assert check(folder) == (cold, [])


def test_only_what_an_edit_reaches_is_analysed_again(check, folder):
    check(folder)
    (folder / "pkg" / "plain.py").write_text("VALUE = 2\n")
    assert check(folder)[1] == ["plain.py"]
    (folder / "pkg" / "helper.py").write_text("def read(x):\n    return x.cpu() \n")
    # the base class of the derived one reads by the helper
    assert check(folder)[1] == ["derived.py", "helper.py", "model.py"]
    assert check(folder)[1] == []


def test_an_edit_that_keeps_size_and_time_is_seen(check, folder):
    before, _ = check(folder)
    path = folder / "pkg" / "helper.py"
    found = path.stat()
    path.write_text(path.read_text().replace(".item()", ".cpu() "))
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))
    assert path.stat().st_size == found.st_size
    after, analysed = check(folder)
    assert "model.py" in analysed and after.findings != before.findings


def test_failures_are_tried_again(check, folder):
    (folder / "broken.py").write_text("def")
    first, _ = check(folder)
    assert first.errors
    assert check(folder) == (first, ["broken.py"])


def test_files_that_appear_where_one_was_looked_for(check, folder):
    (folder / "model.py").write_text(
        "import torch\nfrom absent import read\nclass M(torch.nn.Module):\n"
        "    def forward(self, x):\n        return read(x)\n"
    )
    assert check(folder / "model.py")[0].findings == ()
    (folder / "absent.py").write_text("def read(x):\n    return x.item()\n")
    assert len(check(folder / "model.py")[0].findings) == 1


def test_what_comes_and_goes_above_a_project_does_not_matter(check, folder):
    cold, _ = check(folder)
    (folder.parent / "other").mkdir()
    assert check(folder) == (cold, [])
    (folder.parent / "setup.py").write_text("")
    assert check(folder) == (cold, ["derived.py", "model.py"])  # those that import something


@pytest.mark.parametrize(
    "options",
    [
        {"entries": ("*::Model",)},
        {"torch": "2.9"},
        {"python": (3, 13)},
        {"libraries": False},
        {"possible": False},
    ],
)
def test_other_settings_are_other_answers(folder, stored, monkeypatch, options):
    check = Checks(stored, monkeypatch)
    plain = {"torch": TORCH}
    for settings in (plain, plain | options, plain, plain | options):
        known = analyze([folder], StaticOptions(**settings), cache=str(stored))
        assert known == analyze([folder], StaticOptions(**settings))
    check.analysed.clear()
    analyze([folder], StaticOptions(**plain | options), cache=str(stored))
    assert check.analysed == []


def test_another_working_directory_shows_other_paths(check, folder, monkeypatch):
    monkeypatch.chdir(folder)
    paths = {finding.path for finding in check(folder)[0].findings}
    monkeypatch.chdir(folder / "pkg")
    assert {finding.path for finding in check(folder)[0].findings} != paths


def test_breakscope_s_own_code_counts(folder, monkeypatch):
    def key():
        return cache.key_of(Settings(torch=TORCH, target=TORCH, python=(3, 11)))

    before, original = key(), cache.read_file
    assert key() == before
    for wanted in ("one_file.py", "brk401_print.py", "calls.json"):
        monkeypatch.setattr(
            cache,
            "read_file",
            lambda path, wanted=wanted: original(path) + b" " * path.endswith(wanted),
        )
        assert key() != before


RULE = '''\
"""Calls of `own.slow`."""
from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule(code="BRK499", name="own", severity="warning", kind="break")


@rule.on(Call, names=("time.sleep",))
def check(event):
    yield event.problem("{}")
'''


def test_rules_of_the_user_s_own_count(tmp_path, stored, monkeypatch):
    check = Checks(stored, monkeypatch)
    write(
        tmp_path / "code",
        {
            "model.py": "import time\nimport torch\n"
            "@torch.compile\ndef f(x):\n    time.sleep(1)\n    return x\n"
        },
    )
    rules = tmp_path / "rules"
    rules.mkdir()
    options = {"extra_rules": (str(rules),)}
    plain, _ = check(tmp_path / "code", **options)
    assert check(tmp_path / "code", **options) == (plain, [])
    (rules / "own.py").write_text("import os, our_helpers\n")
    settings = Settings(torch=TORCH, target=TORCH, python=(3, 11), **options)
    assert cache.key_of(settings) == b""
    (rules / "own.py").write_text(RULE)
    assert cache.key_of(settings) not in (
        b"",
        cache.key_of(msgspec.structs.replace(settings, extra_rules=())),
    )
    (rules / "own.py").unlink()
    rules.rmdir()
    missing = cache.key_of(settings)
    rules.mkdir()
    assert cache.key_of(settings) != missing


def test_several_processes_keep_answers_too(check, folder, stored, monkeypatch):
    monkeypatch.setattr(limits, "FEWEST_BYTES_OF_A_PROCESS", 1)
    write(folder, {f"part{i}/model.py": BREAKS.format(".item()") for i in range(3)})
    options = StaticOptions(torch=TORCH)
    cold = analyze([folder], options, jobs=3, cache=str(stored))
    assert len(os.listdir(stored)) == cold.files
    check.analysed.clear()
    assert analyze([folder], options, jobs=3, cache=str(stored)) == cold
    assert check.analysed == []


def test_checks_at_the_same_time(folder, stored):
    """Some check, one clears what they store."""
    program = (
        "import sys; from breakscope.static import StaticOptions, analyze\n"
        "from breakscope.store import Store\n"
        "options = StaticOptions(torch='2.13')\n"
        "cold = analyze([sys.argv[1]], options)\n"
        "for _ in range(8):\n"
        "    assert analyze([sys.argv[1]], options, cache=sys.argv[2]) == cold\n"
        "    sys.argv[3] == 'clear' and Store(sys.argv[2]).clear()\n"
    )
    command = [sys.executable, "-c", program, str(folder), str(stored)]
    running = [
        subprocess.Popen([*command, what], stderr=subprocess.PIPE, text=True, cwd=ROOT)
        for what in ("keep", "keep", "clear")
    ]
    assert [(process.communicate()[1], process.returncode) for process in running] == [("", 0)] * 3


def test_a_warm_check_loads_no_analyzer(folder, stored):
    program = (
        "import sys; from breakscope.static import StaticOptions, analyze; "
        "analyze([sys.argv[1]], StaticOptions(torch='2.13'), cache=sys.argv[2]); "
        "print([name for name in ('libcst', 'breakscope.static.one_file') if name in sys.modules])"
    )
    command = [sys.executable, "-c", program, str(folder / "pkg" / "model.py"), str(stored)]
    cold, warm = (subprocess.run(command, capture_output=True, text=True, cwd=ROOT) for _ in "ab")
    assert "one_file" in cold.stdout and warm.stdout == "[]\n", (cold.stderr, warm.stderr)


# -- what an answer was made from


def facts_and_answer(analyzer, path):
    with targeting(TORCH), analyzer.reads.record() as record:
        answer = with_room(partial(analyzer.analyze, path))
    return record.facts(), answer


def assert_same_facts(paths, seed, most):
    """What an analysis leans on does not depend on those before it, whose modules it shares."""
    chance = random.Random(seed)
    files = list(python_files(paths))
    files = chance.sample(files, min(most, len(files)))
    settings = Settings(torch=TORCH, target=TORCH, python=(3, 11), import_folders=import_folders())
    shared = Analyzer(settings)
    for path in files:
        assert facts_and_answer(shared, path) == facts_and_answer(Analyzer(settings), path), path


def test_facts_of_samples_and_programs():
    assert_same_facts([ROOT / "samples", ROOT / "tests" / "dynamic" / "targets"], 1, 40)


def test_facts_of_a_library():
    top = Path(importlib.util.find_spec("transformers").origin).parent
    assert_same_facts([top / "models" / "bert", top / "models" / "llama"], 2, 8)


@pytest.mark.parametrize("seed", range(10))
def test_facts_of_random_projects(tmp_path, seed):
    edits.project(tmp_path, random.Random(seed))
    assert_same_facts([tmp_path], seed, 20)


def test_what_changes_while_it_is_read_is_never_the_same(tmp_path):
    reads = Reads()
    with reads.record() as record:
        (tmp_path / "a").write_text("one")
        reads.file(str(tmp_path / "a"))
        (tmp_path / "a").write_text("two")
        reads.file(str(tmp_path / "a"))
    assert [reads.digest(fact) for fact in record.facts()] == [None]


def test_what_is_no_fact_holds_for_nothing():
    assert [Reads().digest(fact) for fact in ("", "content", "other:/a", ":")] == [None] * 4


# -- edits


@pytest.mark.parametrize("seed", range(12))
def test_random_edits(tmp_path, stored, monkeypatch, seed):
    """Whatever is edited between two checks, of all files or some of them."""
    chance = random.Random(seed)
    folder = tmp_path / "project"
    edits.project(folder, chance)
    environment = tmp_path / "environment" / "lib" / "python3.11"
    environment.mkdir(parents=True)
    (environment / "site-packages").symlink_to(folder / "site-packages")
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "environment"))
    options, done = StaticOptions(torch=TORCH), []
    for _ in range(12):
        files = list(python_files([folder]))
        some = chance.sample(files, chance.randint(0, len(files)))
        paths = chance.choice([[folder], [folder], some])
        jobs = chance.choice([1, 1, 1, 2])
        assert analyze(paths, options, jobs, cache=str(stored)) == analyze(paths, options), done
        done += [edits.edit(folder, chance) for _ in range(chance.randint(1, 2))]


# -- poison


def entries(stored):
    return sorted(stored.iterdir())


def whole(data: bytes) -> bytes:
    return hashlib.sha256(data).digest() + data


@pytest.fixture
def filled(check, folder):
    """A cache with one answer that has findings, and the check of that file."""
    path = folder / "pkg" / "model.py"
    cold, _ = check(path)
    assert cold.findings and len(entries(check.stored)) == 1
    return entries(check.stored)[0], cold, lambda: check(path)


def test_damage_is_a_cold_check(filled):
    file, cold, again = filled
    data = file.read_bytes()
    for place in random.Random(1).sample(range(len(data)), 40):
        file.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        assert again() == (cold, ["model.py"])
        file.write_bytes(data[:place])
        assert again() == (cold, ["model.py"])


def test_nonsense_with_a_right_checksum_is_a_cold_check(filled):
    file, cold, again = filled
    good = zlib.decompress(file.read_bytes()[32:])
    chance = random.Random(2)
    nonsense = [b"", b"\xc0", b"\x80", b"\x90", good[:-1], good + b"x", chance.randbytes(200)]
    for data in (*nonsense, bytes(30_000_000)):
        for packed in (data, zlib.compress(data)):
            file.write_bytes(whole(packed))
            assert again() == (cold, ["model.py"])


@pytest.mark.parametrize(
    "change",
    [
        {"key": b"other"},
        {"path": "/other.py"},
        {"digest": b"other"},
        {"facts": ()},
        {"facts": ("",)},
        {"facts": ("content",)},
        {"facts": ("other:/a",)},
    ],
)
def test_an_answer_to_another_question_is_a_cold_check(filled, change):
    file, cold, again = filled
    stored = msgspec.msgpack.decode(zlib.decompress(file.read_bytes()[32:]), type=cache.Stored)
    assert stored.answer.findings
    wrong = msgspec.structs.replace(stored, answer=Answer(), **change)
    file.write_bytes(whole(zlib.compress(msgspec.msgpack.encode(wrong))))
    assert again() == (cold, ["model.py"])


def test_an_answer_in_the_place_of_another_is_a_cold_check(check, folder):
    cold, _ = check(folder)
    files = entries(check.stored)
    contents = [file.read_bytes() for file in files]
    for file, content in zip(files, contents[1:] + contents[:1]):
        file.write_bytes(content)
    assert check(folder) == (cold, ALL)


def test_a_folder_that_is_not_the_user_s_own_is_not_used(filled, stored):
    _, cold, again = filled
    assert again() == (cold, [])
    stored.chmod(0o777)
    assert again() == (cold, ["model.py"])
    stored.chmod(0o700)
    stored.rename(stored.with_name("elsewhere"))
    stored.symlink_to("elsewhere")
    assert again() == (cold, ["model.py"])


def test_a_cache_that_cannot_be_written_still_answers(filled, stored):
    file, cold, again = filled
    stored.chmod(0o500)
    file.chmod(0o400)
    assert again() == (cold, [])


def test_the_cache_stays_below_its_size(check, folder, stored, monkeypatch):
    monkeypatch.setattr(limits, "LARGEST_CACHE", 1500)
    cold, _ = check(folder)
    assert 0 < sum(file.stat().st_size for file in entries(stored)) <= 1500
    result, analysed = check(folder)
    assert result == cold and analysed
