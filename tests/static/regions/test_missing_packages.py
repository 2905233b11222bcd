"""Classes that derive from one of a package whose source is not there."""

import pytest
from programs import analysed, found

MODEL = """
{imports}

class M({base}):
    def forward(self, x):
        return x.{read}
"""


@pytest.mark.parametrize(
    ("imports", "base", "breaks"),
    [
        ("import torch\nfrom not_installed_here.policies import Policy", "Policy", True),
        ("import torch\nimport not_installed_here as n", "n.policies.Policy", True),
        ("from not_installed_here.policies import Policy", "Policy", False),
        ("import torch\nfrom abc import ABC", "ABC", False),
        ("import torch\nfrom collections import UserDict", "UserDict", False),
        ("import torch", "torch.distributions.Distribution", False),
    ],
)
def test_a_class_with_a_forward_is_a_module_where_its_base_may_be_one(
    imports, base, breaks, tmp_path
):
    source = MODEL.format(imports=imports, base=base, read="nonzero()")
    result = analysed(tmp_path, {"model.py": source})
    assert [code for code, _ in found(result)] == (["BRK301"] if breaks else [])
