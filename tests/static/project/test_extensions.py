"""Calls of extension modules: compiled code that lies in the checked package."""

import pytest
from programs import analysed, found

PROGRAM = """\
import torch

try:
    from package.fast import Table, TableError, lookup
except ImportError:
    lookup = None


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        if lookup is None:
            return x
        return {use}
"""


@pytest.mark.parametrize(
    ("file", "use", "breaks"),
    [
        ("fast.cpython-311-x86_64-linux-gnu.so", "x * lookup(3)", True),
        ("fast.abi3.so", "x * lookup(3)", True),
        ("fast.cp311-win_amd64.pyd", "x * lookup(3)", True),
        ("fast.abi3.so", "x * len(Table())", True),
        ("fast.abi3.so", "x * isinstance(x, Table)", False),
        ("fast.abi3.so", "x * bool(TableError('no'))", False),
        ("fast.py", "x * lookup(3)", False),
        ("other.abi3.so", "x * lookup(3)", False),
    ],
)
def test_a_call_of_compiled_code_ends_the_graph(file, use, breaks, tmp_path):
    files = {"package/__init__.py": "", f"package/{file}": "def lookup(n):\n    return n\n"}
    result = analysed(tmp_path, {**files, "package/model.py": PROGRAM.format(use=use)})
    assert found(result) == ([("BRK599", 13)] if breaks else [])
