"""What `isinstance` leaves of a value: an argument that the code itself asks about may be of the other
type, whatever its annotation or its use says."""

import pytest
from programs import analysed, found

MODEL = """\
import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pad_packed_sequence


class Own:
    def __init__(self, n):
        self.n = n

    def ask(self, x):
        return x.sum().item()


class OwnTensor(torch.Tensor):
    pass


def size(x):
    return x.max().item()


class Model(torch.nn.Module):
    def forward(self, x{annotation}):
        if {test}:
            {inside}
        return x.cos()
"""
PACKED = "data, sizes, order, _ = x; return data.split(tuple(sizes))"


@pytest.mark.parametrize("annotation", ("", ": Tensor"))
@pytest.mark.parametrize(
    ("test", "inside", "expected"),
    [
        ("isinstance(x, PackedSequence)", "x, sizes = pad_packed_sequence(x)", [("BRK504", 25)]),
        ("isinstance(x, PackedSequence)", PACKED, [("BRK208", 25)]),
        ("isinstance(x, PackedSequence)", "return [1] * x.batch_sizes[0]", [("BRK205", 25)]),
        ("isinstance(x, PackedSequence)", "return [1] * x[1].shape[0]", []),
        ("isinstance(x, Own)", "return x.ask(torch.ones(2))", [("BRK201", 11)]),
        ("isinstance(x, list | tuple)", "return [t * 2 for t in x]", []),
        ("isinstance(x, (int, Own))", "return x", []),
        ("isinstance(x, Tensor)", "return size(x)", [("BRK201", 19)]),
    ],
)
def test_an_argument_may_be_what_is_asked_for(tmp_path, annotation, test, inside, expected):
    source = MODEL.format(annotation=annotation, test=test, inside=inside)
    assert found(analysed(tmp_path, {"program.py": source})) == expected


def test_a_tensor_by_its_annotation_is_no_tensor_of_an_own_class(tmp_path):
    source = MODEL.format(
        annotation=": Tensor", test="isinstance(x, OwnTensor)", inside="return size(x)"
    )
    assert found(analysed(tmp_path, {"program.py": source})) == []


def test_the_condition_is_stated(tmp_path):
    source = MODEL.format(
        annotation=": Tensor", test="isinstance(x, Own)", inside="return x.ask(torch.ones(2))"
    )
    (finding,) = analysed(tmp_path, {"program.py": source}).findings
    assert finding.condition == "isinstance(x, Own)"


def test_a_computed_tensor_is_nothing_else(tmp_path):
    source = MODEL.format(
        annotation="", test="isinstance(x * 2, Own)", inside="return size(torch.ones(2))"
    )
    known = source.replace("        if ", "        x = torch.ones(3)\n        if ").replace(
        "x * 2", "x"
    )
    assert found(analysed(tmp_path, {"program.py": known})) == []


FEATURES = """\
import torch


class Dense:
    def __init__(self, name):
        self.name = name


class Embedded(torch.nn.Module):
    def forward(self, x, features):
        kept = []
        for feature in features:
            if isinstance(feature, Dense):
                kept.append(x[feature.name].max().item())
        return kept
"""


def test_what_is_in_an_argument_of_an_unknown_kind(tmp_path):
    assert found(analysed(tmp_path, {"program.py": FEATURES})) == [("BRK201", 14)]


CHECKS = """\
import torch


def chosen(x, checks):
    for check in checks:
        if isinstance(x, check) if isinstance(check, type) else check(x):
            return x + 1
    return x


class Model(torch.nn.Module):
    def forward(self, x):
        return chosen(x, [{check}])
"""


@pytest.mark.parametrize(
    ("check", "expected"),
    [
        ("torch.Tensor", []),
        ("int", []),
        ("Model", []),
        ("lambda t: t.sum() > 0", [("BRK101", 6)]),
    ],
)
def test_a_class_is_no_function_that_decides(tmp_path, check, expected):
    assert found(analysed(tmp_path, {"program.py": CHECKS.format(check=check)})) == expected


@pytest.mark.parametrize(
    "test",
    [
        "not isinstance(x, torch.Tensor)",
        "not torch.is_tensor(x)",
        "isinstance(x, np.ndarray)",
    ],
)
def test_an_array_or_a_tensor(test, tmp_path):
    """What is annotated as either may be the array that the code asks for."""
    text = f"""\
from typing import Union
import numpy as np
import torch


class Net(torch.nn.Module):
    def forward(self, x: Union[np.ndarray, torch.Tensor]):
        if {test}:
            print(x)
            x = torch.as_tensor(x)
        return x + 1
"""
    result = analysed(tmp_path, {"net.py": text})
    assert found(result) == [("BRK401", 9)]
    assert "x" in result.findings[0].condition


@pytest.mark.parametrize(
    ("kind", "is_one"),
    [("Iterable", True), ("Sized", True), ("Collection", True), ("Sequence", False)],
)
def test_abstract_types_that_tensors_are(kind, is_one, tmp_path):
    source = f"""\
import collections.abc

import torch


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        y = x * 2
        if isinstance(y, collections.abc.{kind}):
            return y + 1
        return y * float(y.sum())
"""
    result = analysed(tmp_path, {"model.py": source})
    assert found(result) == ([] if is_one else [("BRK202", 11)])


@pytest.mark.parametrize(
    ("asked", "is_one"),
    [
        ("isfunction(kind)", True),
        ("not isinstance(kind, torch.nn.Module)", True),
        ("isinstance(kind, torch.nn.Module)", False),
    ],
)
def test_a_function_that_makes_a_layer(asked, is_one, tmp_path):
    source = f"""\
from inspect import isfunction

import torch


def made(kind):
    if {asked}:
        return kind()
    return kind


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.activation = made(lambda: torch.nn.PReLU(4))

    def forward(self, x):
        return self.activation(x)
"""
    result = analysed(tmp_path, {"model.py": source})
    assert found(result) == ([] if is_one else [("BRK517", 15)])
