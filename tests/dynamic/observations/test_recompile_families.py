"""Recompiles of a real run: every family is named, at the user's line."""

import pytest
from running import TARGETS, line_of, run_all

pytest.importorskip("torch")

# method of the target -> the guard's family
WANTED = {
    "size": "size",
    "dtype": "dtype",
    "stride": "stride",
    "requires_grad": "requires_grad",
    "grad_mode": "grad_mode",
    "default_dtype": "default_dtype",
    "alias": "alias",
    "int_argument": "int_argument",
    "float_argument": "float_argument",
    "bool_argument": "bool_argument",
    "str_argument": "str_argument",
    "enum_argument": "enum_argument",
    "none_argument": "none_argument",
    "attribute": "attribute",
    "container_length": "container_length",
    "container_key": "container_key",
    "object_identity": "object_identity",
    "type": "type",
    "global_": "global",
}
# method of the target -> the message's words
WORDS = {
    "size": "dimension 0 of `x` was 4 and is 5 now",
    "dtype": "the dtype of `x` was Float and is Double now",
    "stride": "the stride of dimension 0 of `x` was 4 and is 8 now",
    "requires_grad": "requires_grad of `x` was False and is True now",
    "grad_mode": "gradients were switched on or off",
    "default_dtype": "`torch.set_default_dtype` changed the default dtype",
    "alias": "`x` and `rest[0]` were the same object and are not any more",
    "int_argument": "`rest[0]` is not 3 any more",
    "float_argument": "`rest[0]` is not 0.5 any more",
    "bool_argument": "`rest[0]` is not True any more",
    "str_argument": "`rest[0]` is not 'up' any more",
    "enum_argument": "`rest[0]` is another object than before",
    "none_argument": "`rest[0]` was Tensor and is None now",
    "attribute": "`self.steps` is not 0 any more",
    "container_length": "the length of `self.history` is not 0 any more",
    "container_key": "the keys or contents of `self.cache` changed",
    "object_identity": "`rest[0]` is another object than before",
    "type": "the type of `rest[0]` is not list any more",
    "global_": "the global `MODE` is not 1 any more",
}
WITHOUT_A_LINE = ("size", "dtype", "stride", "requires_grad", "none_argument")
OF_THE_CALLER = ("grad_mode", "default_dtype")


@pytest.fixture(scope="module")
def result():
    file = str(TARGETS / "families.py")
    return run_all({"make": {"file": file, "drive": "drive"}})["make"]


def test_every_family(result):
    assert result.errors == ()
    assert [r.family for r in result.run.recompiles] == list(WANTED.values())


@pytest.mark.parametrize("method", WANTED)
def test_line(result, method):
    """Guards on tensors stand at the frame, on torch's state at the call in another state, on
    Python values at the line that uses them."""
    line = line_of(f"def {method}(", "families.py") + 1
    if method in WITHOUT_A_LINE:
        line = line_of("def forward", "families.py")
    elif method in OF_THE_CALLER:
        line = line_of("call(what, *second)", "families.py")
    found = [f for f in result.findings if f.dynamo == (WANTED[method],)]
    assert [abs(f.line - line) <= 1 and f.kind == "recompile" for f in found] == [True]
    assert (
        found[0].guard
        and f"`forward` was compiled again because {WORDS[method]}" in found[0].message
    )
    assert found[0].help, "a fix for every family"


def test_facts_of_each_recompile(result):
    """What the findings hold in words stands in Run.recompiles too, with the line and the seconds."""
    assert [
        r.cause in WORDS.values() or r.cause.startswith(WORDS[m])
        for m, r in zip(WANTED, result.run.recompiles, strict=True)
    ]
    assert all(
        r.site_line and r.site_path.endswith("families.py") and r.seconds > 0
        for r in result.run.recompiles
    )


def test_guards_do_not_differ_from_run_to_run(result):
    assert not [
        r.guard
        for r in result.run.recompiles
        if any(len(word) > 9 and word.isdigit() for word in r.guard.split())
    ]
