"""What a program decides by torch's version is decided by the version that the check is for."""

import pytest
from programs import analysed, found

PROGRAM = """import importlib.metadata

import packaging.version
import torch
from packaging import version
from packaging.version import Version, parse
from torch import nn

IS_NEW = {test}


class Net(nn.Module):
    def forward(self, x: torch.Tensor):
        if IS_NEW:
            return x * x.sum().item()
        return x * x.max().item()
"""
NEW, OLD = [("BRK201", 15)], [("BRK201", 16)]


@pytest.mark.parametrize(
    ("test", "wanted"),
    [
        ("packaging.version.parse(torch.__version__) >= packaging.version.parse('2.10')", NEW),
        ("version.parse(torch.__version__) < version.parse('2.0')", OLD),
        ("Version(torch.__version__.split('+')[0]) >= Version('1.9.0a0')", NEW),
        ("parse(importlib.metadata.version('torch')) < parse('2.9')", OLD),
        ("torch.__version__ >= '2.9'", NEW),
        ("'2.9' > torch.__version__", OLD),
        ("torch.__version__ >= (2, 9)", NEW),
        ("version.parse(torch.__version__).release >= (2, 1)", NEW),
        ("version.parse(torch.__version__).major < 2", OLD),
        ("int(torch.__version__.split('.')[0]) >= 2", NEW),
        ("torch.__version__.startswith('1.')", OLD),
        ("version.parse(torch.__version__) >= version.parse('2.13.0rc1')", NEW),
        ("version.parse(torch.__version__) == version.parse('2.13')", NEW),
    ],
)
def test_a_version_decides(test, wanted, tmp_path):
    result = analysed(tmp_path, {"net.py": PROGRAM.format(test=test)})
    assert found(result) == wanted
    assert result.findings[0].condition == ""


@pytest.mark.parametrize("parser", ["digit_version", "LooseVersion", "as_version"])
def test_a_version_that_a_package_that_is_not_at_hand_parses_in_the_region(parser, tmp_path):
    source = PROGRAM.format(test="None").replace(
        "if IS_NEW", "if {0}(torch.__version__) > {0}('1.6.0')"
    )
    source = source.format(parser).replace(
        "import torch\n", f"from elsewhere.tools import {parser}\nimport torch\n"
    )
    assert found(analysed(tmp_path, {"net.py": source})) == [("BRK201", 16)]


def test_what_only_has_a_version_in_its_name_is_open(tmp_path):
    source = PROGRAM.format(test="is_version('1.6.0') == is_version('2.6.0')")
    source = source.replace(
        "import torch\n", "from elsewhere.tools import is_version\nimport torch\n"
    )
    assert found(analysed(tmp_path, {"net.py": source})) == [("BRK201", 16), ("BRK201", 17)]


@pytest.mark.parametrize(
    "test",
    [
        "version.parse(importlib.metadata.version('numpy')) >= version.parse('2.0')",
        "version.parse(torch.version.cuda) >= version.parse('12.0')",
        "version.parse(torch.__version__) > limit",
    ],
)
def test_another_version_is_open(test, tmp_path):
    assert found(analysed(tmp_path, {"net.py": PROGRAM.format(test=test)})) == [*NEW, *OLD]
