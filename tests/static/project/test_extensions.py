"""Calls of extension modules: compiled code that lies in the checked package."""

import pytest
from programs import TORCH, analysed, found, write

from breakscope.static import StaticOptions, analyze

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


@pytest.mark.parametrize("where", ["package", "."])
@pytest.mark.parametrize(("file", "breaks"), [("fast.abi3.so", True), ("other.abi3.so", False)])
def test_an_extension_module_that_its_own_package_imports(file, breaks, where, tmp_path):
    source = f"""\
import torch
from {where} import fast


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor, how):
        lookup = {{"one": fast.lookup, "two": fast.search}}[how]
        return x * lookup(3)
"""
    files = {"package/__init__.py": "", f"package/{file}": "", "package/model.py": source}
    assert found(analysed(tmp_path, files)) == ([("BRK599", 8)] if breaks else [])


INSTALLED = """\
import hashes
import torch
from hashes import Table, plain


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        return {use}
"""


@pytest.mark.parametrize(
    ("use", "breaks"),
    [
        ("x * hashes.lookup(3)", True),
        ("x * hashes.named(3)", True),
        ("x * len(Table())", True),
        ("x * plain(3)", False),
        ("x * hashes.other(3)", False),
    ],
)
def test_a_package_shows_what_it_imports_from_its_extension_module(
    use, breaks, tmp_path, monkeypatch
):
    files = {
        "site-packages/hashes/__init__.py": """\
            from ._hashes import Table, lookup, search as named
            from ._python import plain
            """,
        "site-packages/hashes/_hashes.abi3.so": "",
        "site-packages/hashes/_python.py": "def plain(n):\n    return n\n",
        "site-packages/hashes-1.0.dist-info/METADATA": "Name: hashes\n",
        "own/model.py": INSTALLED.format(use=use),
    }
    write(tmp_path, files)
    monkeypatch.syspath_prepend(str(tmp_path / "site-packages"))
    result = analyze([str(tmp_path / "own")], StaticOptions(torch=TORCH))
    assert found(result) == ([("BRK599", 8)] if breaks else [])
