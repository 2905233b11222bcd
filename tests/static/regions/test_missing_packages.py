"""Classes that derive from one of a package whose source is not there."""

import pytest
from programs import TORCH, analysed, found, write

from breakscope.static import StaticOptions, analyze

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
        ("import torch\nfrom made import base", "base()", True),
        ("from made import base", "base()", False),
        ("import torch\nfrom sklearn.base import BaseEstimator", "BaseEstimator", False),
    ],
)
def test_a_class_with_a_forward_is_a_module_where_its_base_may_be_one(
    imports, base, breaks, tmp_path
):
    source = MODEL.format(imports=imports, base=base, read="nonzero()")
    result = analysed(tmp_path, {"model.py": source})
    assert [code for code, _ in found(result)] == (["BRK301"] if breaks else [])


@pytest.mark.parametrize("uses_torch", [True, False])
def test_an_installed_package_that_does_without_torch_has_no_modules(
    uses_torch, tmp_path, monkeypatch
):
    files = {
        "site-packages/lib-1.0.dist-info/METADATA": "Name: lib\n",
        "site-packages/lib/__init__.py": "import torch\n" if uses_torch else "",
        "model.py": MODEL.format(
            imports="import torch\nfrom lib.made import Base", base="Base", read="nonzero()"
        ),
    }
    write(tmp_path, files)
    monkeypatch.syspath_prepend(str(tmp_path / "site-packages"))
    result = analyze([tmp_path / "model.py"], StaticOptions(torch=TORCH))
    assert [code for code, _ in found(result)] == (["BRK301"] if uses_torch else [])


TRIED = """\
import importlib.util
import torch


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        if {test}:
            try:
                import no_such_package.core as core
            except ImportError:
                core = None
        return x
"""


@pytest.mark.parametrize(
    ("test", "is_missed"),
    [
        ("x.shape[0] > 2", True),
        ("importlib.util.find_spec('no_such_package') is not None", False),
        ('importlib.util.find_spec("no_such_package.core") is not None', False),
        ("importlib.util.find_spec('another_package') is not None", True),
    ],
)
def test_a_package_that_was_asked_for_before_it_is_imported(test, is_missed, tmp_path):
    result = analysed(tmp_path, {"net.py": TRIED.format(test=test)})
    assert found(result) == ([("BRK538", 9)] if is_missed else [])


NEEDED = """\
import torch


class Net(torch.nn.Module):
    def forward(self, x):
        try:
            from not_installed_here import scaled
        except ImportError{named}:
            {handled}
        return scaled(x)
"""


@pytest.mark.parametrize(
    ("handled", "is_said"),
    [
        ("scaled = torch.relu", True),
        ("from other import scaled", True),
        ("raise ImportError('it needs not_installed_here') from error", False),
        ("from not_installed_here.old import scaled", False),
    ],
)
def test_a_package_without_which_the_function_cannot_go_on(handled, is_said, tmp_path):
    named = " as error" if handled.startswith("raise") else ""
    result = analysed(tmp_path, {"net.py": NEEDED.format(named=named, handled=handled)})
    assert (("BRK538", 7) in found(result)) is is_said
