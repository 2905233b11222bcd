"""How a parameter without annotation is used says what it is."""

import pytest
from programs import analysed, found

PARTS = """\
import torch
from torch import nn


class Positions(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("table", torch.randn(1, 64, 8))

    def forward(self, {name}):
        {first}
        return self.table[:, :{name}]


class Filter(nn.Module):
    def __init__(self):
        super().__init__()
        self.positions = Positions()

    def filter(self, length):
        return self.positions(length)

    def forward(self, x, length):
        return x * self.filter(length)
"""


def test_the_bound_of_a_slice_is_a_number(tmp_path):
    """In the part that slices, and in what hands it over."""
    source = PARTS.format(name="length", first="pass")
    assert found(analysed(tmp_path, {"parts.py": source})) == []


@pytest.mark.parametrize("first", ["length = length.max()", "length = (length > 0).sum()"])
def test_what_is_set_before_it_is_a_bound_may_be_a_tensor(first, tmp_path):
    source = PARTS.format(name="length", first=first)
    assert ("BRK206", 12) in found(analysed(tmp_path, {"parts.py": source}))


STAGES = """\
import torch


class Loss(torch.nn.Module):
    def forward(self, x: torch.Tensor, stage):
        if stage == 0:
            return x.mean()
        {second}
            return x.sum()
        return x * {used}
"""


@pytest.mark.parametrize(
    ("second", "used", "lines"),
    [
        ("if stage == 1:", "2", []),
        ("if stage == -1:", "2", []),
        ("if stage == 0:", "2", []),
        ("if stage == 1:", "stage", [6, 8]),
        ("if stage > 1:", "stage", []),
        ("if stage > 1.5:", "2", [6, 8]),
    ],
)
def test_what_decides_between_constants_is_no_tensor(second, used, lines, tmp_path):
    source = STAGES.format(second=second, used=used)
    assert [line for _, line in found(analysed(tmp_path, {"loss.py": source}))] == lines


def test_a_mask_of_one_constant_does_not_make_a_number(tmp_path):
    source = STAGES.format(second="mask = stage == 0\n        if mask:", used="2")
    assert [line for _, line in found(analysed(tmp_path, {"loss.py": source}))] == [6, 9]


def test_what_a_part_goes_over_a_range_of_is_a_number(tmp_path):
    source = """\
import torch
from torch import nn


class Step(nn.Module):
    def forward(self, x, depth):
        for i in range(depth):
            x = x + i
        return x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.step = Step()

    def forward(self, x, depth):
        return self.step(x, depth)
"""
    assert found(analysed(tmp_path, {"net.py": source})) == []


ORDERED = """\
import torch


class Net(torch.nn.Module):
    def forward(self, x, step):
        {first}
        if {test}:
            x = x + 1
        return x * step
"""


@pytest.mark.parametrize(
    ("first", "test", "codes"),
    [
        ("pass", "step > 1000", []),
        ("pass", "self.training and not step <= 0", []),
        ("pass", "0 < step", []),
        ("pass", "x > 1000", ["BRK101"]),
        ("pass", "step.max() > 1000", ["BRK101"]),
        ("step = step.float()", "step > 1000", ["BRK101"]),
    ],
)
def test_what_is_ordered_by_a_whole_number_is_one(first, test, codes, tmp_path):
    source = ORDERED.format(first=first, test=test)
    assert [code for code, _ in found(analysed(tmp_path, {"net.py": source}))] == codes


ADOPTED = """\
import torch


def adopted(weight, step, start={start}):
    return 0.0 if step < start else weight


class Loss(torch.nn.Module):
    def forward(self, x, step):
        return x * adopted(2.0, step, start=self.start)
"""


@pytest.mark.parametrize(("start", "codes"), [("0", []), ("None", ["BRK101"])])
def test_what_is_ordered_by_what_is_a_whole_number_by_default_is_one(start, codes, tmp_path):
    source = ADOPTED.format(start=start)
    assert [code for code, _ in found(analysed(tmp_path, {"loss.py": source}))] == codes


SIZED = """\
import torch


class Net(torch.nn.Module):
    def forward(self, x, n):
        {first}
        if n > x.shape[1]:
            raise ValueError("too long")
        return x + {used}
"""


@pytest.mark.parametrize(
    ("first", "used", "codes"),
    [
        ("pass", "torch.arange(n)", []),
        ("pass", "torch.zeros((2, n - 1))", []),
        ("pass", "x.view(-1, n)", []),
        ("pass", "x.softmax(n)", []),
        ("pass", "torch.full((2,), n)", ["BRK102"]),
        ("pass", "torch.zeros(x.shape) * n", ["BRK102"]),
        ("n = n.max()", "torch.arange(n)", ["BRK102"]),
        ("top = n.max()", "torch.arange(n)", ["BRK102"]),
    ],
)
def test_what_is_handed_over_as_a_size_is_one(first, used, codes, tmp_path):
    source = SIZED.format(first=first, used=used)
    assert sorted(code for code, _ in found(analysed(tmp_path, {"net.py": source}))) == codes


FLAG = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = nn.Bilinear(4, 4, 4)

    def forward(self, x, given):
{body}
        return x
"""


@pytest.mark.parametrize(
    ("body", "is_flag"),
    [
        ("if given: x = x + 1", True),
        ("x = x + 1 if not given else x", True),
        ("if self.training and given: x = self.part(x, given)", True),
        ("assert given is False or x.dim() == 2", True),
        ("if given: return given", True),
        ("if given: return x, given * 2", False),
        ("if given: x = x + given", False),
        ("if given: x = torch.add(x, given)", False),
        ("if given > 0.5: x = x + 1", False),
        ("if given.sum(): x = x + 1", False),
    ],
)
def test_a_parameter_whose_truth_is_all_that_is_asked_is_a_flag(body, is_flag, tmp_path):
    result = analysed(tmp_path, {"net.py": FLAG.format(body=f"        {body}")})
    assert found(result) == ([] if is_flag else [("BRK101", 11)])


HANDED = """\
import torch
from torch import nn


class Branch(nn.Module):
    def forward(self, x, inference):
        if not inference:
            x = x + {added}
        return x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.branch = Branch()

    def forward(self, x, inference):
        return self.branch(x * 2, inference)
"""


@pytest.mark.parametrize(("added", "lines"), [("1", []), ("inference", [7])])
def test_what_is_handed_on_to_be_asked_its_truth_is_a_flag(added, lines, tmp_path):
    result = analysed(tmp_path, {"net.py": HANDED.format(added=added)})
    assert [line for _, line in found(result)] == lines


HANDED_TO_FUNCTION = """\
import torch
from torch import nn


def masked(x, causal):
    if causal:
        x = x + {added}
    return x


class Net(nn.Module):
    def forward(self, x, causal):
        return masked({given})
"""


@pytest.mark.parametrize("given", ["x * 2, causal", "x * 2, causal=causal"])
@pytest.mark.parametrize(("added", "lines"), [("1", []), ("causal", [6])])
def test_what_a_function_only_asks_the_truth_of_is_a_flag(given, added, lines, tmp_path):
    source = HANDED_TO_FUNCTION.format(given=given, added=added)
    assert [line for _, line in found(analysed(tmp_path, {"net.py": source}))] == lines


CHOICE = """\
import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x, mode):
{chosen}
            return x + x.sum().item()
        raise ValueError("unknown: %s" % mode)
"""


@pytest.mark.parametrize(
    "chosen",
    [
        "        if mode == 'a':",
        "        if 'a' == mode:",
        "        if mode in ('a', 'b'):",
        "        if mode == 1 or mode == 2:",
        "        match mode:\n          case 'a':",
    ],
)
def test_what_is_compared_with_a_text_is_no_tensor(chosen, tmp_path):
    result = analysed(tmp_path, {"net.py": CHOICE.format(chosen=chosen)})
    assert [code for code, _ in found(result)] == ["BRK201"]


OWN_MATRIX = """\
import torch
from library.sparse import SparseTensor


class Net(torch.nn.Module):
    def forward(self, x, adjacency):
        {first}
        if adjacency.is_coalesced():
            return x
        return x + 1
"""


@pytest.mark.parametrize(
    ("first", "lines"), [("row, column, value = adjacency.csr()", []), ("pass", [8])]
)
def test_a_matrix_with_names_that_no_tensor_has(first, lines, tmp_path):
    result = analysed(tmp_path, {"net.py": OWN_MATRIX.format(first=first)})
    assert [line for _, line in found(result)] == lines


COUNTED = """\
import torch


class Net(torch.nn.Module):
    def forward(self, x, count):
        for i in range({bounds}):
            x = x + i
        if count % 2 == 0:
            return x
        return x + 1
"""


@pytest.mark.parametrize("bounds", ["count", "1, count", "0, 8, count"])
def test_a_bound_of_a_range_is_a_number(bounds, tmp_path):
    assert found(analysed(tmp_path, {"net.py": COUNTED.format(bounds=bounds)})) == []


@pytest.mark.parametrize(
    ("angle", "codes"),
    [
        ("math.cos(angle)", set()),
        ("torch.cos(angle) * math.cos(angle)", {"BRK211"}),
        ("math.cos(angle.sum())", {"BRK211"}),
        ("math.cos(x.sum())", {"BRK211"}),
    ],
)
def test_what_is_handed_to_a_function_of_math_is_a_number(angle, codes, tmp_path):
    source = (
        f"import math\n\nimport torch\n\n\ndef turned(x, angle):\n    return x.relu() * {angle}\n"
    )
    files = {"pack/turns.py": source, "pack/__init__.py": "from pack.turns import turned\n"}
    result = analysed(tmp_path, files)
    assert {code for code, _ in found(result)} == codes
