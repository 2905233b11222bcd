"""Whatever stands around a true finding, it is reported, and what is not looked at is said."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from breakscope.cli.session import exit_code
from breakscope.config import Config
from breakscope.static import StaticOptions, analyze
from breakscope.static.project.files import python_files
from breakscope.workflows.check import CheckOptions, check

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))

from hostile_parts import GROWING, GROWING_TEXT, ODD_CALLS, STARTS, around, generated
from hostile_programs import named

CASES = named()
OPTIONS = StaticOptions(torch="2.13.0")
# one of each class of defect; benchmarks/hostile.py runs all
REPRESENTATIVE = """
    long_literal long_literal_used shift power ranges ranges_at_top odd_calls call_depth stop_iteration
    counting_iterator new_iterator recursive_object union_types tuple_types diamonds quotes_in_comment
    noqa_codes ands conditionals nots calls adjacent_texts forks forks_of_configuration holds_itself
    text_format_width text_add text_replace list_add_at_top int_square tuple_call tensors_nest
    list_conditional circular_bases empty_docstring
""".split()


def missed(folder: Path, source: str) -> tuple[set[int], tuple, tuple]:
    """The marked lines without a finding, and the report's errors and gaps."""
    program = folder / "program.py"
    program.write_text(source, encoding="utf-8")
    marked = {n for n, line in enumerate(source.split("\n"), 1) if "# FIND" in line}
    result = analyze([program], OPTIONS)
    assert marked
    return marked - {f.line for f in result.findings}, result.errors, result.gaps


@pytest.mark.parametrize("name", REPRESENTATIVE)
def test_a_finding_beside_hostile_code_is_reported(tmp_path, name):
    lines, errors, gaps = missed(tmp_path, CASES[name])
    assert not lines and not errors
    assert not any("internal error" in gap.message for gap in gaps)


@settings(max_examples=40, deadline=None, derandomize=True, database=None)
@given(seed=st.integers(0, 10**6))
def test_a_generated_program_silences_nothing(tmp_path_factory, seed):
    lines, errors, _ = missed(tmp_path_factory.mktemp("generated"), generated(seed))
    assert not lines and not errors


STEPS = st.sampled_from([*GROWING.values(), *GROWING_TEXT.values(), *ODD_CALLS.splitlines()])


@settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(
    start=st.sampled_from([*STARTS.values(), "'a'", "x", "self", "None", "0.5"]),
    steps=st.lists(STEPS, min_size=1, max_size=6),
    times=st.sampled_from([1, 7, 50]),
    at_top=st.booleans(),
)
@example(start="'a'", steps=["s = s + s"], times=50, at_top=True)
def test_what_grows_silences_nothing(tmp_path_factory, start, steps, times, at_top):
    body = f"s = {start}\n" + "\n".join(steps * times)
    top = f"x = self = torch.ones(1)\n{body}"
    source = around("pass", top) if at_top else around(body)
    lines, errors, _ = missed(tmp_path_factory.mktemp("growing"), source)
    assert not lines and not errors


def test_a_gap_without_a_finding_is_a_failure(tmp_path, monkeypatch):
    monkeypatch.setattr("breakscope.limits.DEEPEST_CALL", 5)
    calls = "".join(f"def f{n}(x):\n    return f{n + 1}(x)\n" for n in range(9))
    program = tmp_path / "program.py"
    program.write_text(
        "import torch\n" + calls + "def f9(x):\n    return x\n"
        "class Net(torch.nn.Module):\n    def forward(self, x):\n        return f0(x)\n"
    )
    report = check(CheckOptions(paths=(str(program),), torch="2.13.0"), Config())
    (gap,) = report.gaps
    assert (gap.function, gap.line) == ("f3", 9) and "too deeply" in gap.message
    assert exit_code(report) == 2


@pytest.mark.parametrize("name", ["notebook.ipynb", "module.rs"])
def test_a_file_that_is_not_read_is_an_error(tmp_path, name):
    (tmp_path / name).write_text("{}")
    result = analyze([tmp_path / name], OPTIONS)
    assert [error.path.rpartition("/")[2] for error in result.errors] == [name]


def test_a_line_of_many_wildcards_ignores_nothing(tmp_path):
    (tmp_path / ".gitignore").write_text("*a*a*a*a*a*a*a*a*a*a*a*ab\nignored*.py\n")
    for name in ("a" * 200 + ".py", "ignored_1.py"):
        (tmp_path / name).touch()
    assert [path.rpartition("/")[2] for path in python_files([tmp_path])] == ["a" * 200 + ".py"]


def test_a_failing_rule_costs_its_own_findings_and_says_so(tmp_path):
    rules = tmp_path / "rules"
    rules.mkdir()
    (rules / "brk950_broken.py").write_text(
        '"""Broken."""\n\nfrom breakscope.rulekit.events import Branch\n'
        "from breakscope.rulekit.rule import Rule\n\n"
        'rule = Rule("BRK950", "broken")\n\n\n@rule.on(Branch)\ndef check(event):\n    return 1 / 0\n\n\n'
        "@rule.example(lambda: (1,))\ndef bad(x):\n    return x  # BRK950\n"
    )
    program = tmp_path / "program.py"
    program.write_text(around("pass"))
    result = analyze([program], StaticOptions(torch="2.13.0", extra_rules=(str(rules),)))
    assert {8, 17} <= {f.line for f in result.findings}
    assert {gap.line for gap in result.gaps} >= {8}
    assert all("BRK950" in gap.message for gap in result.gaps)
