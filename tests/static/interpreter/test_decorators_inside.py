"""Decorators that run inside a region, on a function that is defined there."""

import pytest
from programs import found, region


@pytest.mark.parametrize(
    ("decorator", "codes"),
    [
        # Dynamo of torch 2.13.0: GB0007 at the decorator, for the first also GB0098 at the call
        ("torch.compiler.disable", ["BRK599", "BRK501"]),
        ("torch.jit.ignore", ["BRK599"]),
        ("torch.jit.script", ["BRK519"]),
        ("torch.compiler.allow_in_graph", ["BRK599"]),
        # no break
        ("torch.no_grad()", []),
        ("torch.inference_mode()", []),
        ("torch.compile", []),
        ("torch.vmap", []),
    ],
)
def test_a_decorator_is_called_where_the_function_is_defined(decorator, codes, tmp_path):
    body = f"@{decorator}\ndef inner(y):\n    return y * 2\nx = inner(x)\n"
    result = region(tmp_path, body)
    assert [code for code, _ in found(result)] == codes
