"""Which findings are shown."""

import pytest
from facts import finding

from breakscope.errors import UserError
from breakscope.report.model import Elsewhere
from breakscope.report.selection import Selection, by_file, check_codes

KNOWN = ("BRK101", "BRK102", "BRK203", "BRK701")
NAMES = dict(zip(KNOWN, ("branch", "raise", "cast-to-number", "counter"), strict=True))


@pytest.mark.parametrize(
    ("selection", "shown"),
    [
        (Selection(), KNOWN),
        (Selection(select=("BRK1",)), ("BRK101", "BRK102")),
        (Selection(select=("BRK1",), extend_select=("BRK701",)), ("BRK101", "BRK102", "BRK701")),
        (Selection(ignore=("BRK1",)), ("BRK203", "BRK701")),
        (Selection(select=("BRK101",), ignore=("BRK1",)), ("BRK101",)),
        (Selection(select=("BRK1",), ignore=("BRK101",)), ("BRK102",)),
        (Selection(select=("BRK101",), ignore=("BRK101",)), ()),
        (Selection(extend_select=("BRK101",), ignore=("BRK1",)), ("BRK101", "BRK203", "BRK701")),
    ],
)
def test_the_longest_prefix_decides(selection, shown):
    assert tuple(code for code in KNOWN if selection.selects(code, "a.py")) == shown


@pytest.mark.parametrize(
    ("glob", "path", "ignored"),
    [
        ("tests/*", "tests/deep/test_a.py", True),
        ("test_*.py", "tests/deep/test_a.py", True),
        ("tests/*", "src/tests.py", False),
        ("src/*.py", "src/a b.py", True),
    ],
)
def test_per_file_ignores(glob, path, ignored):
    selection = Selection(per_file_ignores=((glob, ("BRK1",)),))
    assert selection.selects("BRK101", path) is not ignored
    assert selection.selects("BRK203", path)


def test_per_file_ignores_are_relative_to_the_file_that_is_noted(tmp_path, monkeypatch):
    (tmp_path / "src").mkdir()
    monkeypatch.chdir(tmp_path / "src")
    assert not Selection(per_file_ignores=(("src/*", ("BRK1",)),), root=str(tmp_path)).selects(
        "BRK101", "a.py"
    )


def test_possible_and_refuted_are_hidden_unless_selected():
    findings = [
        finding(),
        finding(confidence="possible"),
        finding(evidence="refuted"),
        finding(confidence="possible", evidence="observed"),
    ]
    assert [Selection().shows(f) for f in findings] == [True, False, False, True]
    assert Selection(show_possible=True).split(findings)[1] == 1
    assert Selection(show_possible=True, show_refuted=True).split(findings) == (tuple(findings), 0)


@pytest.mark.parametrize("code", ["BRK101", "BRK1", "BRK7", "BRK"])
def test_codes_and_prefixes_are_known(code):
    check_codes([code], NAMES, "--select")


@pytest.mark.parametrize(
    ("code", "near"),
    [
        ("BRK103", "BRK102"),
        ("brk203", "BRK203"),
        ("BRK2O3", "BRK203"),
        ("E501", "breakscope rule"),
        ("cast", "BRK203 (cast-to-number)"),
        ("branhc", "BRK101 (branch)"),
        ("", "breakscope rule"),
    ],
)
def test_an_unknown_code_is_named_with_its_neighbours(code, near):
    with pytest.raises(UserError) as problem:
        check_codes(["BRK101", code], NAMES, "--ignore")
    message = str(problem.value)
    assert (
        message.startswith("--ignore: ")
        and repr(code) in message
        and near in message
        and "\n" not in message
    )


def test_findings_in_files_that_were_not_asked_for_are_counted_by_file():
    here, there = finding(), finding(path="b.py", column=1)
    found = [here, there, finding(path="b.py", column=9), finding(path="b.py", line=50)]
    found.append(finding(path="c.py"))
    shown, elsewhere = by_file(found, frozenset({here.path}))
    assert shown == (here,)
    assert elsewhere == (Elsewhere(path="b.py", findings=2), Elsewhere(path="c.py", findings=1))
    assert by_file(found, None) == (tuple(found), ())


def test_what_a_run_saw_is_shown_wherever_it_stands():
    seen = finding(path="b.py", evidence="observed")
    assert by_file([seen], frozenset({"a.py"})) == ((seen,), ())
