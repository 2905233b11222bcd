"""Constructor parameters whose default is None may be None, whatever their annotation says, and those annotated
as optional whatever their default is: what `forward` does then is looked at, under that condition."""

import pytest
from programs import analysed, found

PROGRAM = """from typing import Dict, List, Optional

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, given: {parameter}):
        super().__init__()
        self.kept = given

    def forward(self, x: torch.Tensor):
        if self.kept is None:
            x = x * x.sum().item()
        return x
"""


@pytest.mark.parametrize(
    "parameter",
    [
        "int = None",
        "float = None",
        "str = None",
        "bool = None",
        "list = None",
        "List[int] = None",
        "Dict[str, int] = None",
        "torch.Tensor = None",
        "nn.Module = None",
        "Optional[int] = None",
        "Optional[float] = 0.1",
        "int | None = 3",
        "str | None = 'mean'",
    ],
)
def test_a_test_for_none_is_open(parameter, tmp_path):
    result = analysed(tmp_path, {"net.py": PROGRAM.format(parameter=parameter)})
    assert found(result) == [("BRK201", 14)]
    assert result.findings[0].condition == "self.kept is None"


@pytest.mark.parametrize("parameter", ["int = 3", "float = 0.1", "str = 'mean'", "list = [1]"])
def test_what_has_a_default_of_its_type_is_none_never(parameter, tmp_path):
    result = analysed(tmp_path, {"net.py": PROGRAM.format(parameter=parameter)})
    assert found(result) == []


@pytest.mark.parametrize("parameter", ["momentum=0.1", "momentum: float = 0.1"])
def test_what_the_module_asks_about_may_be_none(parameter, tmp_path):
    source = PROGRAM.format(parameter="int").replace("given: int", parameter)
    source = source.replace("= given", "= momentum").replace("kept", "momentum")
    result = analysed(tmp_path, {"net.py": source})
    assert found(result) == [("BRK201", 14)]
    assert result.findings[0].condition == "self.momentum is None"


@pytest.mark.parametrize(
    ("made", "codes"),
    [
        ("torch.Tensor(pairs).long()", []),
        ("torch.LongTensor(pairs)", []),
        ("torch.LongTensor([[0, 1], [1, 2]])", []),
        ("torch.LongTensor([0, 1])", ["BRK213"]),
    ],
)
def test_tensors_of_data_whose_dimensions_nobody_knows(made, codes, tmp_path):
    source = f"""import torch


class Net(torch.nn.Module):
    def __init__(self, pairs: list):
        super().__init__()
        self.pairs = {made}

    def forward(self, x: torch.Tensor):
        return x[:, self.pairs[..., 0]]
"""
    assert [code for code, _ in found(analysed(tmp_path, {"net.py": source}))] == codes
