"""The sixth law: what must hold for the rules as a set."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from examples import CODE, MARK
from import_path import PYTHONPATH

from breakscope.rulekit.loader import FAMILY_TITLES, RuleError, load_file, load_rules, rules_folder
from breakscope.rulekit.rule import FAMILIES as GUARDS

RULES = load_rules()
README = Path(__file__).parents[2] / "README.md"
FAMILIES = dict.fromkeys("123456", "break") | {"7": "recompile", "8": "usage"}

# Every GB id that our corpus of small programs and real models shows under torch 2.13.
SEEN = """
GB0006 GB0007 GB0014 GB0015 GB0025 GB0033 GB0036 GB0046 GB0055 GB0059 GB0083 GB0088 GB0092 GB0098 GB0123 GB0124 GB0142
GB0147 GB0148 GB0156 GB0170 GB0193 GB0206 GB0207 GB0208 GB0277 GB0291 GB0294 GB0467 GB4198 GB4347 GB8335 GB8985 GB9186
""".split()
GAPS = {
    "GB0092": "a callable of a kind that Dynamo does not know, met behind an earlier break; that one has its rule",
}

# Families of guards that no rule predicts: a run sees them.
UNPREDICTED = {"device", "tensor_value", "module_parameters", "backend"}


def test_codes_and_names_are_unique():
    assert len({rule.code for rule in RULES}) == len(RULES)
    assert len({rule.name for rule in RULES}) == len(RULES)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_every_rule_has_a_page_and_an_example(rule):
    paragraphs = rule.page.strip().split("\n\n")
    assert len(paragraphs) >= 3 and rule.title.endswith(".")
    assert len(rule.title) <= 120
    assert rule.kind == FAMILIES.get(rule.code[3], rule.kind)
    assert rule.examples or not rule.handlers


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_the_file_is_named_after_its_code(rule):
    name = re.split(r"[/\\]", rule.path)[-1]
    assert re.fullmatch(rf"{rule.code.lower()}_[a-z0-9_]+\.py", name)
    with open(rule.path, encoding="utf-8") as file:
        marks = {code for mark in MARK.findall(file.read()) for code in CODE.findall(mark)}
    assert marks <= {r.code for r in RULES} and (rule.code in marks or not rule.examples)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_a_frame_that_dynamo_skips_is_called_skipped(rule):
    with open(rule.path, encoding="utf-8") as file:
        words = " ".join(file.read().split())
    assert not re.search(r"without a graph|runs? eager", words)


def test_every_id_that_was_seen_has_a_rule_or_a_reason():
    known = {gb_id for rule in RULES if rule.kind == "break" for gb_id in rule.gb_ids()}
    assert set(SEEN) - known <= set(GAPS)


def shown_by(rule):
    """The GB ids that the rule's examples show: law 2 runs them."""
    return {i for e in rule.examples for i in (rule.gb_ids() if e.dynamo is None else e.dynamo)}


@pytest.mark.parametrize(
    "rule", [rule for rule in RULES if rule.kind == "break"], ids=lambda rule: rule.code
)
def test_every_claimed_id_is_shown_by_an_example_or_said_not_to_be(rule):
    claimed, others = set(rule.gb_ids()), (r for r in RULES if r is not rule and r.kind == "break")
    elsewhere = {gb_id for other in others for gb_id in shown_by(other)}
    assert claimed - shown_by(rule) - elsewhere <= set(rule.unshown) <= claimed - shown_by(rule)


def test_the_examples_show_many_ids():
    assert len({gb_id for rule in RULES if rule.kind == "break" for gb_id in shown_by(rule)}) >= 60


def test_every_family_of_guards_has_a_rule():
    predicted = {
        family
        for rule in RULES
        if rule.kind == "recompile" and rule.handlers
        for family in rule.dynamo
    }
    assert set(GUARDS) - predicted <= UNPREDICTED


def test_the_readme_names_every_family():
    with open(README, encoding="utf-8") as file:
        written = re.findall(r"^\| BRK(\d)xx \| (.+?) \|$", file.read(), re.MULTILINE)
    assert written == list(FAMILY_TITLES.items())


def test_only_one_rule_explains_a_break_by_its_id_alone():
    owners = {}
    for rule in RULES:
        for entry in rule.dynamo:
            if rule.kind == "break" and ":" not in entry and rule.code != "BRK599":
                owners.setdefault(entry, []).append(rule.code)
    assert {gb_id: codes for gb_id, codes in owners.items() if len(codes) > 1} == {}


def test_two_rules_with_one_code_are_refused(tmp_path):
    first = next(Path(rules_folder()).glob("brk101_*.py"))
    (tmp_path / "brk101_again.py").write_text(first.read_text(encoding="utf-8"), encoding="utf-8")
    with pytest.raises(RuleError, match="BRK101 is taken"):
        load_rules((str(tmp_path),))


PAGE = '"""A page."""\n'
IMPORT = "from breakscope.rulekit.rule import Rule\n"


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("x = 1\n", "defines no `rule"),
        (PAGE + IMPORT + 'rule = Rule("BRK1", "x")\n', "is no code"),
        (IMPORT + 'rule = Rule("BRK901", "x")\n', "has no docstring"),
        (
            PAGE + IMPORT + 'rule = Rule("BRK901", "x", fix="safe")\n',
            "has no @rule.rewrite",
        ),
        (
            PAGE + IMPORT + 'rule = Rule("BRK701", "x", kind="recompile", dynamo=("moon",))\n',
            "is no guard family",
        ),
        (
            PAGE + "import torch\n" + IMPORT + 'rule = Rule("BRK901", "x")\ntorch.ones(1)\n',
            "torch.ones",
        ),
        ("rule =\n", "cannot be loaded"),
    ],
)
def test_a_wrong_rule_file_is_refused_by_name(tmp_path, monkeypatch, source, complaint):
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    file = tmp_path / "brk901_wrong.py"
    file.write_text(source, encoding="utf-8")
    with pytest.raises(RuleError, match=complaint) as caught:
        load_file(file, heavy=False)
    assert str(file) in str(caught.value)


NEEDY = """
import colorsys

import numpy as np
import torch
from torch import nn

from breakscope.rulekit.events import Call

rule = Rule("BRK901", "needy")


@rule.on(Call)
def check(event):
    return [colorsys.rgb_to_hsv(0, 0, 1)]


@rule.example(lambda: (torch.ones(int(np.pi)),))
@torch.no_grad
def bad(x):
    return x


class Layer(nn.Module):
    pass
"""


def test_a_rule_is_loaded_without_what_its_examples_import(tmp_path, monkeypatch):
    for name in ("torch", "numpy", "colorsys"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    file = tmp_path / "brk901_needy.py"
    file.write_text(PAGE + IMPORT + NEEDY, encoding="utf-8")
    rule = load_file(file, heavy=False)
    assert sys.modules.keys().isdisjoint({"torch", "numpy", "colorsys"})
    assert rule.handlers[0].check(None) == [(2 / 3, 1.0, 1)]  # a check has the real module


def test_rules_that_are_loaded_for_a_static_check_make_nothing_of_the_standard_library():
    """What only their examples use is imported where these run: a hook pays for all rules."""
    program = (
        "import sys\n"
        "from breakscope.rulekit.loader import load_rules\n"
        "before = set(sys.modules)\n"
        "load_rules()\n"
        "print({'dataclasses', 'inspect', 'weakref', 'copy', 'typing_extensions'} & (set(sys.modules) - before))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": PYTHONPATH},
    )
    assert done.stdout == "set()\n"
