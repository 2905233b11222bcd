"""Recompiles of a real run: every family is named, at the user's line."""

import pytest
from running import TARGETS, line_of, run_all

pytest.importorskip("torch")

# method of the target -> the guard's family
WANTED = {
    "size": "size", "dtype": "dtype", "stride": "stride", "requires_grad": "requires_grad", "grad_mode": "grad_mode",
    "default_dtype": "default_dtype", "alias": "alias", "int_argument": "int_argument",
    "float_argument": "float_argument", "bool_argument": "bool_argument", "str_argument": "str_argument",
    "enum_argument": "enum_argument", "none_argument": "none_argument", "attribute": "attribute",
    "container_length": "container_length", "container_key": "container_key", "object_identity": "object_identity",
    "type": "type", "global_": "global",
}
WITHOUT_A_LINE = ("size", "dtype", "stride", "requires_grad", "grad_mode", "default_dtype", "none_argument")


@pytest.fixture(scope="module")
def result():
    file = str(TARGETS / "families.py")
    return run_all({"make": {"file": file, "drive": "drive"}})["make"]


def test_every_family(result):
    assert result.errors == ()
    assert [r.family for r in result.run.recompiles] == list(WANTED.values())


@pytest.mark.parametrize("method", WANTED)
def test_line(result, method):
    """Guards on tensors and global state stand at the frame; guards on Python values at the line that uses them."""
    at_frame = method in WITHOUT_A_LINE
    line = line_of("def forward", "families.py") if at_frame else line_of(f"def {method}(", "families.py") + 1
    found = [f for f in result.findings if f.dynamo == (WANTED[method],)]
    assert [abs(f.line - line) <= 1 and f.kind == "recompile" for f in found] == [True]
    assert found[0].guard and found[0].guard in found[0].message
    assert found[0].help, "a cure for every family"


def test_guards_do_not_differ_from_run_to_run(result):
    assert not [r.guard for r in result.run.recompiles if any(len(word) > 9 and word.isdigit() for word in r.guard.split())]
