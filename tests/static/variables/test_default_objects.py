"""Objects as defaults of methods and fields, of objects that a region makes. Dynamo of torch 2.13.0 ends the
graph (GB0116, GB0147) where the code is expected, and nowhere else."""

import pytest
from programs import analysed, found

PROGRAM = """\
import enum
import pathlib
import sys
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch


class Missing:
    pass


class Kind(enum.Enum):
    A = 1


class Row(NamedTuple):
    a: int = 1


MISSING = Missing()


@dataclass
class Output:
    x: Any
    f: Any = {default}


class Plain:
    def __init__(self, x, f={default}):
        self.x = x

    def read(self, f={default}):
        return self.x


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        made = {made}
        return made.x * 2
"""
FIELD, PLAIN = "Output(x + 1)", "Plain(x + 1)"
CASES = [
    ("MISSING", FIELD, True),
    ("MISSING", PLAIN, True),
    ("MISSING", "Output(x + 1, None)", False),
    ("MISSING", "Plain(x + 1, f=None)", False),
    ("(MISSING,)", FIELD, True),
    ("torch.ones(3)", PLAIN, True),
    ("torch.nn.ReLU()", FIELD, True),
    ("Kind.A", FIELD, False),
    ("Row()", PLAIN, False),
    ("Missing", FIELD, False),
    ("sys.stderr", PLAIN, True),
    ("sys.stderr", FIELD, True),
    ('pathlib.Path("a")', PLAIN, True),
    ("torch.relu", PLAIN, False),
    ("(1, None)", FIELD, False),
]
FACTORIES = [
    ("Missing", True),
    ("OrderedDict", True),
    ("torch.nn.ReLU", True),
    ("lambda: Missing()", False),
    ("dict", False),
    ("list", False),
    ("Row", False),
]


@pytest.mark.parametrize(("default", "made", "breaks"), CASES)
def test_an_object_as_a_default(default, made, breaks, tmp_path):
    source = PROGRAM.format(default=default, made=made)
    codes = [code for code, _ in found(analysed(tmp_path, {"model.py": source}))]
    assert codes == (["BRK582"] if breaks else [])


@pytest.mark.parametrize(("factory", "breaks"), FACTORIES)
def test_a_factory_of_a_field(factory, breaks, tmp_path):
    source = PROGRAM.replace("f: Any = {default}", f"f: Any = field(default_factory={factory})")
    result = analysed(tmp_path, {"model.py": source.format(default=None, made=FIELD)})
    assert [code for code, _ in found(result)] == (["BRK582"] if breaks else [])


def test_an_object_made_outside_takes_its_defaults_over(tmp_path):
    source = PROGRAM.format(default="MISSING", made="self.made").replace(
        "    def forward",
        "    def __init__(self):\n        super().__init__()\n        self.made = Plain(1)\n\n    def forward",
    )
    source = source.replace("return made.x * 2", "return x * made.read()")
    assert found(analysed(tmp_path, {"model.py": source})) == []


def test_a_method_by_name_on_what_was_made(tmp_path):
    source = PROGRAM.format(default="MISSING", made="Plain(x, None)")
    source = source.replace("return made.x * 2", "return made.read() * 2")
    assert [code for code, _ in found(analysed(tmp_path, {"model.py": source}))] == ["BRK582"]


LAYER = """\
import torch


class Missing:
    pass


class Layer(torch.nn.Module):
    def forward(self, x, f={default}):
        return x * 2

    def read(self, x, f={default}):
        return x + 1


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        return {made}
"""


@pytest.mark.parametrize(
    ("default", "made", "breaks"),
    [
        ("Missing()", "Layer()(x)", True),
        ("Missing()", "Layer().read(x)", True),
        ("Missing()", "Layer().read(x, 1)", False),
        ("None", "Layer()(x)", False),
    ],
)
def test_a_layer_made_inside(default, made, breaks, tmp_path):
    source = LAYER.format(default=default, made=made)
    codes = [code for code, _ in found(analysed(tmp_path, {"model.py": source}))]
    assert codes == (["BRK582"] if breaks else [])
