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


BUILT = """\
import ctypes
import torch
from torch.utils.cpp_extension import load_inline

made = {made}


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return made.twice(x)

    @staticmethod
    def backward(ctx, grad):
        return grad


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.made = made

    def forward(self, x: torch.Tensor):
        return Double.apply(x) + self.made.twice(x)
"""


@pytest.mark.parametrize(
    ("made", "name"),
    [
        ('load_inline(name="ext", cpp_sources="", functions=["twice"])', "ext"),
        ('load_inline("ext", "", is_python_module=False)', ""),
        ('torch.utils.cpp_extension.load("ext", ["ext.cpp"])', "ext"),
        ('ctypes.CDLL("libext.so")', "ctypes.CDLL(...)"),
    ],
)
def test_compiled_code_that_the_program_builds_or_loads(made, name, tmp_path):
    result = analysed(tmp_path, {"model.py": BUILT.format(made=made)})
    assert found(result) == ([("BRK599", 11), ("BRK599", 24)] if name else [])
    assert all(
        f"`twice` is compiled code of the extension module `{name}`" in f.message
        for f in result.findings
    )
