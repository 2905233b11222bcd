"""Tables per torch version: which are picked, that every shipped one is well formed, what rules are
reported."""

import json
from pathlib import Path

import pytest

from breakscope import knowledge
from breakscope.rulekit.events import Call
from breakscope.rulekit.loader import load_rules, rules_folder
from breakscope.rulekit.rule import Rule
from breakscope.static import StaticOptions, analyze
from breakscope.static.machine.library import Library

SHIPPED = knowledge.shipped()
DIFFERING = [
    v for v in SHIPPED if (Path(rules_folder()) / "knowledge" / v / knowledge.DIFFERENCES).is_file()
]
SKIPPED = next(rule for rule in load_rules() if rule.name == "skipped-package")
PRINTS = """import torch


@torch.compile
def step(x):
    print("now")
    return x * 2
"""


def test_the_wanted_versions_are_shipped():
    assert {"2.6.0", "2.8.0", "2.9.1", "2.11.0", "2.13.0", "2.15.0"} <= set(SHIPPED)


@pytest.mark.parametrize(
    ("asked", "taken"),
    [
        ("2.6", "2.6.0"),
        ("2.7.1", "2.6.0"),
        ("2.8.0+cu128", "2.8.0"),
        ("2.9", "2.9.1"),
        ("2.9.0", "2.9.1"),
        ("2.10.2", "2.9.1"),
        ("2.12", "2.11.0"),
        ("2.13.0", "2.13.0"),
        ("2.14.0a0+git1", "2.13.0"),
        ("2.15.1", "2.15.0"),
        ("1.13", "2.6.0"),
        ("3.0", "2.15.0"),
    ],
)
def test_the_nearest_shipped_version_at_or_below_is_taken(asked, taken):
    assert knowledge.load(asked).version == taken


@pytest.mark.parametrize("version", DIFFERING)
def test_differences_name_their_version_and_speak_of_known_tables(version):
    written = json.loads(
        (Path(rules_folder()) / "knowledge" / version / knowledge.DIFFERENCES).read_text()
    )
    assert written["torch"] == version
    base = knowledge.load(written["base"])
    assert base.version == written["base"]
    for name, table in written["tables"].items():
        entries = getattr(base, name)
        assert set(table) <= {"changed", "removed"} and table
        assert set(table.get("removed", ())) <= {*entries, "*"}
        assert all(entries.get(key) != entry for key, entry in table.get("changed", {}).items())


@pytest.mark.parametrize("version", SHIPPED)
def test_every_break_of_a_table_is_an_id_of_that_version(version):
    facts = knowledge.load(version)
    if not facts.registry:
        pytest.skip("this version has no ids")
    for name in ("torch.nonzero", "print", "Tensor.item"):
        assert set(facts.call(name).breaks) <= set(facts.registry)


def test_rules_know_the_target_version():
    with knowledge.targeting("2.9"):
        assert knowledge.load().version == "2.9.1"
        assert knowledge.since("2.9.1") and not knowledge.since("2.10")
    with (
        pytest.raises(ValueError, match="'newest' is no torch version"),
        knowledge.targeting("newest"),
    ):
        pass


def test_a_rule_may_name_what_the_target_version_has():
    rule = Rule("BRK999", "probe")
    rule.on(Call, "print", lambda: knowledge.load().names("GB0059", prefix="hash"))(
        lambda event: ()
    )
    for version, names in (("2.11", {"print", "hash"}), ("2.13", {"print"})):
        with knowledge.targeting(version):
            assert rule.handlers[0].settled().names == names


@pytest.mark.parametrize("version", ["2.6.0", "2.8.0", "2.13.0"])
def test_a_finding_names_ids_that_its_version_has(version, tmp_path):
    file = tmp_path / "step.py"
    file.write_text(PRINTS)
    (finding,) = analyze([file], StaticOptions(torch=version)).findings
    assert set(finding.dynamo) <= set(knowledge.load(version).registry)
    assert bool(finding.dynamo) == (version != "2.6.0")


@pytest.mark.parametrize(("version", "word"), [("2.4", "older"), ("2.99", "newer"), ("2.12", "")])
def test_a_version_out_of_range_is_noted(version, word, tmp_path):
    file = tmp_path / "step.py"
    file.write_text(PRINTS)
    result = analyze([file], StaticOptions(torch=version))
    assert result.findings and result.torch == version
    assert [word in note for note in result.notes] == ([True] if word else [])


@pytest.mark.parametrize("version", SHIPPED)
def test_each_package_that_dynamo_skips_is_known_by_its_breaks(version):
    """The rule finds out by a pattern which breaks it explains; it must name what torch's table
    names, and no more."""
    packages = Library(knowledge.load(version)).skipped_packages
    assert {"tqdm", "pandas"} <= packages and not packages & {"torch", "numpy", "re", "copy"}
    for package in (*packages, "einops"):
        reason = (
            f"the function `f` in file `/lib/site-packages/{package}/part.py` should not be traced"
        )
        assert bool(SKIPPED.explains("GB0007", reason)) == (package in packages)
