"""What NumPy computes of Python's numbers, written with `math`."""

import ast

import pytest

from breakscope.rulekit.numbers.by_math import by_math


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("np.ceil(np.log(n)).astype('int').item()", "math.ceil(math.log(n))"),
        ("np.sqrt(n).astype(int).item()", "int(math.sqrt(n))"),
        ("np.sqrt(n).item()", "math.sqrt(n)"),
        ("int(np.ceil(x.shape[1] / 2))", "int(math.ceil(x.shape[1] / 2))"),
        ("math.floor(np.log2(len(x)))", "math.floor(math.log2(len(x)))"),
        ("int(np.prod(x.shape))", "int(math.prod(x.shape))"),
        ("int(np.ceil(t.item()))", "int(math.ceil(t.item()))"),
        ("int(np.ceil(t.max().item() / 2))", "int(math.ceil(t.max().item() / 2))"),
        ("int(np.median(n))", ""),  # `math` has no such function
        ("int(np.prod(x, 0))", ""),
        ("int(np.ceil(self.rate * n))", ""),  # the attribute may be NumPy's
        ("math.ceil(n)", ""),
    ],
)
def test_what_math_has_too(expression, expected):
    assert by_math(ast.parse(expression, mode="eval").body) == expected
