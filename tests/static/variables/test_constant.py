"""Constants are folded: a branch that they decide runs one side only. The body of each program
begins in line 9."""

import pytest
from programs import analysed, found, region

TRUE = [
    "2 ** 3 > 7",
    "7 // 2 == 3 and 7 % 2 == 1",
    "-(-1) == 1 and ~0 == -1",
    "(1 | 2) == 3",
    "1 << 3 == 8",
    "'ab' + 'c' == 'abc'",
    "'%d' % 3 == '3'",
    "'{}'.format('a') == 'a'",
    "f'{1}a' == '1a'",
    "'b' in 'abc'",
    "'a.b'.split('.')[1] == 'b'",
    "'abc'.startswith('ab')",
    "len('abc') == 3",
    "int('3') == 3 and float('0.5') < 1 and bool(1)",
    "isinstance(1, int) and not isinstance(1.0, int) and isinstance('a', (int, str))",
    "type(1) is int",
    "None is None and True is True",
    "'abc'[1] == 'b'",
    "abs(-2) == 2 and round(1.5) == 2 and max(1, 2) == 2",
    "str(1) == '1'",
]


@pytest.mark.parametrize("test", TRUE)
def test_a_constant_test_decides(test, tmp_path):
    assert (
        found(region(tmp_path, f"if {test}:\n    pass\nelse:\n    x = x * x.sum().item()\n")) == []
    )


@pytest.mark.parametrize("test", TRUE)
def test_the_side_that_runs_is_looked_at(test, tmp_path):
    body = f"if {test}:\n    x = x * x.sum().item()\n"
    assert found(region(tmp_path, body)) == [("BRK201", 10)]


def test_powers_and_shifts_are_not_computed_at_any_size(tmp_path):
    body = "n = 10 ** 10 ** 10\nm = 1 << 10 ** 10\nif n > m:\n    x = x + 1\n"
    assert found(region(tmp_path, body)) == []


@pytest.mark.parametrize(
    ("call", "breaks"),
    [("eval('1 + 1')", False), ("eval('[(2, 3), {4: -1.5}]')", False), ("eval('x')", True), ("eval('not 1')", True),
     ("eval('1', {})", True), ("eval(b'1')", True), ("eval('1 +')", True), ("eval()", True), ("eval(*['1'])", False)],
)  # fmt: skip
def test_a_literal_that_is_evaluated(call, breaks, tmp_path):
    source = f"import torch\n@torch.compile\ndef step(x):\n    y = {call}\n    return x\n"
    assert bool(found(analysed(tmp_path, {"run.py": source}))) is breaks


OPEN = [  # what neither side of is known, on a tensor, on a number, of a library
    "x.dtype.is_complex",
    "x.dtype.is_signed",
    "int(elsewhere.n).imag",
    "torch.backends.cudnn.enabled",
    "x.device.index is None",
    "x.grad is None",
    "x.is_mkldnn",
    "elsewhere.HAS_KERNELS",
    "elsewhere.found",
]


@pytest.mark.parametrize("test", OPEN)
def test_an_attribute_that_is_data_decides_nothing(test, tmp_path):
    source = (
        "import torch\nimport elsewhere\n@torch.compile\ndef step(x: torch.Tensor):\n"
        f"    if {test}:\n        return x * 2\n    return x * x.sum().item()\n"
    )
    assert found(analysed(tmp_path, {"run.py": source})) == [("BRK201", 7)]


@pytest.mark.parametrize(
    "test",
    [
        "torch.cfloat.is_complex",
        "torch.half.is_floating_point",
        "torch.long.is_signed",
        "(3).real",
        "(2j).imag",
    ],
)
def test_an_attribute_of_a_known_dtype_or_number_decides(test, tmp_path):
    for side, breaks in (("", [("BRK201", 5)]), ("not ", [])):
        source = (
            "import torch\n@torch.compile\ndef step(x: torch.Tensor):\n"
            f"    if {side}{test}:\n        x = x * x.sum().item()\n    return x\n"
        )
        assert found(analysed(tmp_path, {"run.py": source})) == breaks
