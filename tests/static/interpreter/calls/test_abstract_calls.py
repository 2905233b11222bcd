"""Methods that a class only announces are followed into the classes beside it that have them."""

import pytest
from programs import analysed, found

SHAPES = """\
import torch


class Shape:
    def area(self, x):
        {announced}

    def name(self):
        return "shape"


class Disc(Shape):
    def area(self, x):
        return x * x.mean().item()


class Model(torch.nn.Module):
    def forward(self, x, shape: Shape):
        return shape.area(x) + 1
"""


@pytest.mark.parametrize(
    "announced",
    [
        "raise NotImplementedError",
        "if x is None:\n            raise ValueError\n        raise NotImplementedError('area')",
        "if x is None:\n            return 0\n        raise NotImplementedError('area')",
    ],
)
def test_in_the_classes_beside_it(tmp_path, announced):
    result = analysed(tmp_path, {"program.py": SHAPES.format(announced=announced)})
    (item,) = [finding for finding in result.findings if finding.code == "BRK201"]
    assert item.confidence == "likely"
    assert [link.function for link in item.chain] == ["Model.forward"]


def test_a_method_that_does_something_is_what_runs(tmp_path):
    result = analysed(tmp_path, {"program.py": SHAPES.format(announced="return x")})
    assert found(result) == []


def test_the_class_of_an_attribute_is_what_the_constructor_annotates(tmp_path):
    source = SHAPES.format(announced="raise NotImplementedError")
    source = source.replace(
        "shape: Shape):\n        return shape.", "box: 'Box'):\n        return box.shape."
    )
    source += "\n\nclass Box:\n    def __init__(self, shape: Shape):\n        self.shape = shape\n"
    assert [code for code, _ in found(analysed(tmp_path, {"program.py": source}))] == ["BRK201"]


UNSEEN = """\
import torch


class Coder(torch.nn.Module):
    def encode(self, x):
        return x[x > 0.5]

    def forward(self, x):
        return x


class Model(torch.nn.Module):
    def __init__(self, coder: torch.nn.Module):
        super().__init__()
        self.coder = coder

    def forward(self, x):
        return self.coder.encode({given})
"""


def test_a_method_that_one_class_of_the_file_has(tmp_path):
    result = analysed(tmp_path, {"program.py": UNSEEN.format(given="x")})
    (item,) = [finding for finding in result.findings if finding.code == "BRK302"]
    assert (item.line, item.confidence) == (6, "likely")


@pytest.mark.parametrize("given", ["'text'", "x, 1, 2", "x, mode=1", ""])
def test_not_where_the_call_does_not_fit_it_or_is_of_a_text(tmp_path, given):
    assert found(analysed(tmp_path, {"program.py": UNSEEN.format(given=given)})) == []


HELD = """\
import torch


class Solver(torch.nn.Module):
    def __init__(self, matrix, factorized):
        super().__init__()
        self.factors = factorized(matrix)

    def solve(self, x):
        return {within}(x[x > 0.5])

    def substituted(self, x):
        return {held}.solve(x + 1)

    def forward(self, x):
        return self.substituted(x.sin())
"""


@pytest.mark.parametrize(
    ("held", "within", "lines"),
    [
        ("self.factors", "self.substituted", []),
        ("self", "torch.cos", [10]),
        ("self.factors.other", "torch.cos", [10]),
    ],
)
def test_what_an_object_holds_is_seldom_of_its_own_class(held, within, lines, tmp_path):
    source = HELD.format(held=held, within=within)
    assert [line for _, line in found(analysed(tmp_path, {"program.py": source}))] == lines


def test_not_where_many_classes_have_it(tmp_path):
    more = "".join(
        f"\n\nclass C{i}(Coder):\n    def encode(self, x):\n        return x\n" for i in range(3)
    )
    source = UNSEEN.format(given="x") + more
    assert found(analysed(tmp_path, {"program.py": source})) == []


UNBOUND = """\
import torch


class Surrogate(torch.nn.Module):
    @{kind}
    def spike({first}x):
        {announced}

    def forward(self, x):
        return self.spike(x)


class Step(Surrogate):
    @{kind}
    def spike({first}x):
        return x * 2


class Model(torch.nn.Module):
    def __init__(self, surrogate: Surrogate):
        super().__init__()
        self.surrogate = surrogate

    def forward(self, x):
        return x[self.surrogate(x) > 0]
"""


@pytest.mark.parametrize(("kind", "first"), [("staticmethod", ""), ("classmethod", "cls, ")])
@pytest.mark.parametrize(
    ("announced", "lines"), [("raise NotImplementedError", [25]), ("raise ValueError", [])]
)
def test_one_that_is_bound_to_no_object(kind, first, announced, lines, tmp_path):
    """Dynamo of torch 2.13.0 breaks there when the model is given a `Step`."""
    source = UNBOUND.format(kind=kind, first=first, announced=announced)
    assert [line for _, line in found(analysed(tmp_path, {"m.py": source}))] == lines


PROTOCOL = """\
from typing import Protocol

import torch


class Backend({bases}):
    def start(self, x: torch.Tensor){body}


class Model(torch.nn.Module):
    def __init__(self, backend: Backend):
        super().__init__()
        self.backend = backend

    def forward(self, x: torch.Tensor):
        state = self.backend.start(x)
        if state is None:
            raise RuntimeError("no state")
        return x * x.mean().item()
"""


@pytest.mark.parametrize(
    "bases, body, reaches",
    [
        ("Protocol", ": ...", True),
        ("Protocol", " -> torch.Tensor:\n        'Begin.'", True),
        ("Protocol", ":\n        pass", True),
        ("Protocol[int]", ":\n        pass", True),
        ("object", ":\n        'Begin.'\n        ...", True),
        ("object", ":\n        pass", False),
    ],
)
def test_a_method_of_a_protocol_gives_what_nobody_knows(bases, body, reaches, tmp_path):
    source = PROTOCOL.replace("{bases}", bases).replace("{body}", body)
    result = analysed(tmp_path, {"program.py": source})
    assert [code for code, _ in found(result)] == ["BRK201"] * reaches
