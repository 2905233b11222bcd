"""Findings of two reports are matched by what the code says."""

import pytest
from facts import RECOMPILE, finding

from breakscope.report.combining.identity import Identity, identity, normalised, same


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("if x.sum()>0:", "    if x.sum() > 0:  # why"),
        ("y = f(\n    a,\n    b)", "y = f(a,\n      b)"),
        ("return '#1'", "\treturn '#1'  # two"),
        ("y = f(a,", "y  =  f(a,"),
        ("else ]", "  else    ]"),
    ],
)
def test_layout_and_comments_do_not_count(one, other):
    assert normalised(one) == normalised(other) != ""


@pytest.mark.parametrize(
    "other", ["if x.sum() > 1:", "if x.sum() >= 0:", "if x.sum() > 0 :\n    y"]
)
def test_code_counts(other):
    assert normalised("if x.sum() > 0:") != normalised(other)


def test_a_finding_is_known_by_its_statement():
    known = identity(finding(line=41, end_line=41))
    assert (known.path, known.line, known.code) == ("models/moe.py", 41, "BRK203")
    assert known.content == "cap = int ( counts . max ( ) )"


def test_without_source_its_message_has_to_do():
    known = identity(finding(source=(), first_source_line=0, message="it breaks", brief=""))
    assert known.content == "it breaks"


def test_what_varies_tells_recompiles_of_one_line_apart():
    one, other, third = (
        identity(RECOMPILE.__class__(**{**_fields(RECOMPILE), "names": names}))
        for names in (("f", "x"), ("f", "y"), ("f", "x"))
    )
    assert one == third != other


def _fields(value):
    return {name: getattr(value, name) for name in value.__struct_fields__}


def at(line, content="a", path="m.py", function="f", code="BRK101"):
    return Identity(path=path, line=line, code=code, function=function, content=content)


@pytest.mark.parametrize(
    ("before", "after", "pairs"),
    [
        ([at(1)], [at(9)], [(0, 0)]),
        ([at(1)], [at(1, content="b")], []),
        ([at(1)], [at(1, code="BRK102")], []),
        ([at(1)], [at(5, path="renamed.py")], [(0, 0)]),
        ([at(1)], [at(5, function="g")], [(0, 0)]),
        ([at(1)], [at(5, function="g", path="renamed.py")], []),
        # of two that are alike, one went: the one that stands at the same line stayed
        ([at(1), at(5)], [at(5)], [(1, 0)]),
        ([at(1), at(5)], [at(3), at(7)], [(0, 0), (1, 1)]),
        ([at(5)], [at(1), at(5)], [(0, 1)]),
        # the same file is surer than another one
        ([at(1), at(1, path="n.py")], [at(2, path="n.py"), at(3, path="o.py")], [(0, 1), (1, 0)]),
    ],
)
def test_same(before, after, pairs):
    assert same(before, after) == pairs
