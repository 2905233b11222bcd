"""The pytest plugin, in a pytest of its own: outcomes do not depend on order or processes."""

import os
import re
import subprocess
import sys

import pytest
from import_path import PYTHONPATH

from breakscope.errors import UserError
from breakscope.integrations import pytest_plugin
from breakscope.integrations.graph_baseline import read
from breakscope.integrations.graph_tests import Limits, exceeding, limits_of
from breakscope.report.model import Report

PLUGIN = "breakscope.integrations.pytest_plugin"
STEPS = """\
import logging, unittest
import pytest, torch

def step(x):
    if x.sum() > 0:
        x = x + 1
    return x * 2

def cosine(x):
    return x.cos() + 1

compiled = torch.compile(step, backend="eager")
whole = torch.compile(cosine, backend="eager")

@pytest.fixture
def warm():
    compiled(torch.ones(5))

@pytest.mark.graph(max_breaks=0)
def test_breaks():  # failed
    compiled(torch.ones(2))

@pytest.mark.graph(max_breaks=1, max_recompiles=0, single=False)
def test_as_many_breaks_as_allowed():  # passed
    compiled(torch.ones(2))

@pytest.mark.graph(max_breaks=None)
def test_any_number_of_breaks():  # passed
    compiled(torch.ones(2)); compiled(torch.ones(3))

@pytest.mark.graph(single=True)
def test_one_graph():  # passed
    whole(torch.ones(2))

@pytest.mark.graph(single=True, max_recompiles=1)
def test_one_graph_compiled_again():  # passed
    whole(torch.ones(2)); whole(torch.ones(3)); whole(torch.ones(4))

@pytest.mark.graph(single=True, max_breaks=None)
def test_two_graphs():  # failed
    compiled(torch.ones(2))

@pytest.mark.graph(max_recompiles=0)
def test_recompiles():  # failed
    whole(torch.ones(2)); whole(torch.ones(3))

@pytest.mark.graph
def test_nothing():  # failed
    step(torch.ones(2))

@pytest.mark.graph(max_break=0)
def test_typo():  # failed
    compiled(torch.ones(2))

@pytest.mark.graph
def test_its_own_failure():  # failed
    compiled(torch.ones(2))
    raise ValueError("its own")

@pytest.mark.graph
def test_skip():  # skipped
    pytest.skip("not here")

@pytest.mark.xfail(strict=True)
@pytest.mark.graph
def test_expected():  # xfailed
    compiled(torch.ones(2))

@pytest.mark.graph(max_recompiles=0, max_breaks=1)
def test_what_a_fixture_compiled_does_not_count(warm):  # passed
    compiled(torch.ones(2))

@pytest.mark.graph
def test_records_are_not_logged(caplog):  # passed
    with caplog.at_level(logging.DEBUG):
        whole(torch.ones(2))
    assert not [r for r in caplog.records if r.name == "torch.__trace"]

def test_blocks(breakscope):  # passed
    with breakscope.graph(single=True) as report:
        whole(torch.ones(2))
    assert len(report.run.graphs) == 1
    with breakscope.graph(max_breaks=1) as report:
        compiled(torch.ones(2))
    assert [found.line for found in report.breaks] == [5]

def test_a_block_beyond_its_limits(breakscope):  # failed
    with breakscope.graph():
        compiled(torch.ones(2))

@pytest.mark.graph(max_breaks=1)
def test_a_block_in_a_marked_test(breakscope):  # passed
    compiled(torch.ones(2))
    with breakscope.graph(single=True):
        whole(torch.ones(2))

def test_unmarked():  # passed
    compiled(torch.ones(2))

@pytest.mark.graph(max_breaks=1)
class TestClass(unittest.TestCase):
    def test_of_a_class(self):  # passed
        compiled(torch.ones(2))

    @pytest.mark.graph
    def test_the_closest_marker_counts(self):  # failed
        compiled(torch.ones(2))
"""
EXPECTED = dict(re.findall(r"def (test_\w+)\(.*# (\w+)$", STEPS, re.MULTILINE))
BACKWARDS = "def pytest_collection_modifyitems(items):\n    items.reverse()\n"
MARKED = 17  # with a watched call that ends
CALLS = ("plain", "backwards", "processes")


def run_pytest(folder, *options, plugins=(PLUGIN,), code=(0, 1), errors=False):
    """What a pytest of its own prints, with these plugins and no others."""
    environment = {name: value for name, value in os.environ.items() if "PYTEST" not in name}
    environment |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": PYTHONPATH}
    named = [word for plugin in plugins for word in ("-p", plugin)]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *named, *options],
        capture_output=True,
        text=True,
        cwd=folder,
        env=environment,
        check=False,
    )
    assert done.returncode in code, done.stdout + done.stderr
    return done.stderr if errors else done.stdout


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """What pytest prints of STEPS: in order, backwards, and by two processes."""
    pytest.importorskip("torch")
    folder = tmp_path_factory.mktemp("steps")
    (folder / "test_steps.py").write_text(STEPS)
    options = ("-rA", "--breakscope", "--strict-markers")
    found = {"plain": run_pytest(folder, *options)}
    (folder / "conftest.py").write_text(BACKWARDS)
    found["backwards"] = run_pytest(folder, *options)
    found["processes"] = run_pytest(folder, *options, "-n", "2", plugins=(PLUGIN, "xdist.plugin"))
    return found


def outcomes(text):
    found = re.findall(r"^(PASSED|FAILED|XFAIL|ERROR|XPASS)\w* \S*::(\w+)", text, re.MULTILINE)
    names = {"XFAIL": "xfailed"}
    return {name: names.get(outcome, outcome.lower()) for outcome, name in found}


@pytest.mark.parametrize("how", CALLS)
def test_outcomes(printed, how):
    expected = {name: outcome for name, outcome in EXPECTED.items() if outcome != "skipped"}
    assert outcomes(printed[how]) == expected
    assert "1 skipped" in printed[how]


def failure(text, name):
    """The lines that pytest shows of a failed test."""
    found = text[re.search(rf"^_+ {name} _+$", text, re.MULTILINE).end() :]
    lines = re.split(r"^(?:____|====)", found, maxsplit=1, flags=re.MULTILINE)[0].splitlines()
    return [line for line in lines if line and not line.startswith("[gw")]


@pytest.mark.parametrize("how", CALLS)
def test_a_failure_shows_what_the_command_line_shows(printed, how):
    lines = failure(printed[how], "test_breaks")
    assert lines[0] == "graph: 1 break, 0 allowed"
    assert lines[1].startswith("test_steps.py:5:8: BRK101 `if x.sum() > 0` reads a tensor's value")
    assert lines[2:4] == ["    4 | def step(x):", "    5 |     if x.sum() > 0:"]
    assert lines[4] == "      |        ^^^^^^^^^^^"
    assert lines[5].startswith("   = help: choose with `torch.where(condition, a, b)`")
    assert lines[6].startswith("   = seen: confirmed (GB0170), 1 event")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("test_two_graphs", "graph: 2 graphs, 1 wanted (step at test_steps.py:4, step at "),
        ("test_recompiles", "graph: 1 recompile, 0 allowed"),
        ("test_nothing", "graph: the test compiled nothing, so nothing was seen"),
        ("test_typo", "pytest.mark.graph takes no 'max_break'; did you mean max_breaks?"),
    ],
)
def test_reasons_of_failures(printed, name, reason):
    assert failure(printed["plain"], name)[0].startswith(reason)


def test_a_test_that_fails_by_itself_shows_its_breaks_too(printed):
    lines = failure(printed["plain"], "test_its_own_failure")
    title = next(
        i for i, line in enumerate(lines) if line.strip("- ") == "Captured breakscope call"
    )
    before, after = "\n".join(lines[:title]), "\n".join(lines[title:])
    assert "ValueError: its own" in before and "BRK101" in after


@pytest.mark.parametrize("how", CALLS)
def test_the_summary_is_the_same_in_any_order_and_any_process(printed, how):
    def rows(text):
        section = text[re.search(r"^=+ breakscope =+$", text, re.MULTILINE).end() :]
        section = section[: section.index("\n====")]
        return re.sub(r"[\d.]+ m?s of compiling", "TIME", section).strip().splitlines()

    *tests, total = rows(printed[how])
    assert len(tests) == MARKED and [*tests, total] == rows(printed["plain"])
    assert tests[0] == (
        "test_steps.py::TestClass::test_the_closest_marker_counts: 2 graphs, 1 break, 0 recompiles, "
        "TIME (test_steps.py:5 BRK101); fails: 1 break, 0 allowed"
    )
    assert total.startswith(f"{MARKED} tests, 7 beyond their limits: ")


def test_nobody_is_told_of_it_who_does_not_ask(printed, tmp_path):
    (tmp_path / "test_other.py").write_text(
        "import sys\n"
        "def test_light():\n"
        "    heavy = {'torch', 'libcst', 'msgspec', 'click', 'rich', 'numpy'}\n"
        "    assert not heavy & set(sys.modules)\n"
        "    assert 'breakscope.integrations.pytest_plugin' in sys.modules\n"
        "    ours = {m for m in sys.modules if m.startswith('breakscope')}\n"
        "    assert len(ours) == 3, ours\n"
    )
    text = run_pytest(tmp_path, "-q", code=(0,))
    assert "breakscope" not in text
    assert "no test limits what torch.compile does" in run_pytest(tmp_path, "--breakscope")


def test_torch_is_not_imported_at_collection(tmp_path):
    (tmp_path / "conftest.py").write_text(
        "import sys\ndef pytest_collection_finish():\n    assert 'torch' not in sys.modules\n"
    )
    (tmp_path / "test_later.py").write_text(
        "import pytest\n@pytest.mark.graph\ndef test_later(breakscope):\n    import torch\n"
    )
    assert "1 test collected" in run_pytest(tmp_path, "--collect-only", "--breakscope", code=(0,))


def test_a_marker_of_the_projects_own_is_left_alone(tmp_path):
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n    graph: about graph theory\n")
    (tmp_path / "test_theory.py").write_text(
        "import pytest\n@pytest.mark.graph\n@pytest.mark.graph('a tree')\ndef test_tree(): pass\n"
        "@pytest.mark.graph(max_breaks=0)\ndef test_ours(): pass\n"
    )
    text = run_pytest(tmp_path, "-q", code=(1,))
    assert "1 failed, 1 passed" in text and "compiled nothing" in text


@pytest.mark.parametrize(
    ("args", "given", "message"),
    [
        ((0,), {}, "takes names, such as max_breaks=0, and not 0"),
        ((), {"single": 1}, "takes True or False for single, not 1"),
        ((), {"max_breaks": -1}, "takes a number from 0 on, or None, for max_breaks, not -1"),
        ((), {"max_recompiles": True}, "for max_recompiles, not True"),
        ((), {"max_breaks": "0"}, "for max_breaks, not '0'"),
        ((), {"colour": 1}, "takes no 'colour'; there are max_breaks, max_recompiles, single"),
    ],
)
def test_wrong_limits_are_refused_in_one_line(args, given, message):
    with pytest.raises(pytest.fail.Exception, match=re.escape(message)) as raised:
        limits_of(args, given, "pytest.mark.graph")
    assert "\n" not in str(raised.value)


def test_names_of_the_marker_are_those_of_the_limits():
    assert Limits.__struct_fields__ == pytest_plugin.NAMES


def test_a_failure_of_ours_is_no_pass():
    report = Report(version="", torch="", errors=())
    assert exceeding(report, Limits()) != []


ACCEPTED = """\
import pytest, torch

def step(x):
    if x.sum() > 0:
        x = x + 1
    return x * 2

compiled = torch.compile(step, backend="eager")

@pytest.mark.graph
def test_old_break():
    compiled(torch.ones(2))

@pytest.mark.graph(max_breaks=None, max_recompiles=0)
def test_recompiles():
    for size in SIZES:
        compiled(torch.ones(size))
"""


@pytest.mark.nightly
def test_what_is_in_the_baseline_is_accepted_and_what_is_new_is_shown(tmp_path):
    pytest.importorskip("torch")
    file = tmp_path / "test_accepted.py"
    file.write_text(ACCEPTED.replace("SIZES", "(2,)"))
    saving = run_pytest(tmp_path, "--breakscope-save", "base.json", "-q", code=(1,))
    assert "saved what 2 tests did in base.json" in saving and "1 failed, 1 passed" in saving
    (tmp_path / "pytest.ini").write_text("[pytest]\nbreakscope_baseline = base.json\n")

    file.write_text("# moved\n" + ACCEPTED.replace("SIZES", "(2,)"))
    two = (PLUGIN, "xdist.plugin")
    text = run_pytest(tmp_path, "--breakscope", "-n", "2", plugins=two, code=(0,))
    assert re.search(r"::test_old_break: 2 graphs, 1 break, .*; as in the baseline$", text, re.M)
    assert "2 tests, all within their limits" in text

    worse = ACCEPTED.replace("SIZES", "(2, 3)").replace("    return", "    print(x)\n    return")
    file.write_text(worse)
    text = run_pytest(tmp_path, code=(1,))
    lines = failure(text, "test_old_break")
    assert lines[0] == "graph: 2 breaks, 0 allowed"
    difference = lines[lines.index("against base.json:") :]
    assert difference[1].startswith("new: test_accepted.py:6:5: BRK401 `print(x)`")
    assert any(re.fullmatch(r"breaks +1 +2 +\+1", line) for line in difference)
    assert "against base.json:" in failure(text, "test_recompiles")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "no such baseline: "),
        (b"[]", "is no baseline of --breakscope-save: "),
        (b'{"tests": {"a": [{"findings": 1}]}}', "is no baseline of --breakscope-save: "),
        (b"\xff", "is no baseline of --breakscope-save: "),
    ],
)
def test_a_wrong_baseline_is_one_clear_line(tmp_path, content, message):
    if content is not None:
        (tmp_path / "base.json").write_bytes(content)
    with pytest.raises(UserError) as raised:
        read(tmp_path / "base.json")
    assert message in str(raised.value) and "\n" not in str(raised.value)


def test_a_missing_baseline_ends_pytest_with_one_line(tmp_path):
    text = run_pytest(tmp_path, "--breakscope-baseline", "none.json", code=(4,), errors=True)
    assert "ERROR: no such baseline: none.json" in text and "Traceback" not in text
