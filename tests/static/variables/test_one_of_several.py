"""What is a tensor where a known condition holds, used as a number. Each use was measured under torch 2.13."""

import pytest
from programs import analysed, found

PROGRAM = """\
import math
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, size=None):
        super().__init__()
        self.size = size

    def forward(self, x, lengths: torch.Tensor):
        n = self.size
        if n is None:
            n = {computed}
        {use}
"""
USES = {
    "return x[:, : n + 1]": "BRK206",
    "return torch.zeros(n, 1)": "BRK208",
    "return x.new_zeros((n, 2))": "BRK208",
    "return x.narrow(0, 0, n)": "BRK208",
    "return sum([x for _ in range(n)])": "BRK207",
    "return x + [1, 2, 3][n]": "BRK205",
    "return x * math.sqrt(n)": "BRK211",
    "return x if n in (1, 2) else -x": "BRK110",
}


@pytest.mark.parametrize("use", USES)
def test_a_number_that_is_a_tensor_unless_it_is_configured(use, tmp_path):
    source = PROGRAM.format(computed="lengths.max()", use=use)
    result = analysed(tmp_path, {"run.py": source})
    assert found(result) == [(USES[use], 15)]
    assert "is None" in result.findings[0].condition


@pytest.mark.parametrize("use", USES)
def test_a_number_that_is_none(use, tmp_path):
    source = PROGRAM.format(computed="lengths.shape[0]", use=use)
    assert found(analysed(tmp_path, {"run.py": source})) == []


@pytest.mark.parametrize(
    ("indices", "expected"),
    [("torch.argsort(time)", [("BRK213", 8)]), ("list(range(len(time)))", [])],
)
def test_one_of_the_indices_of_unknown_dimensions(indices, expected, tmp_path):
    source = f"""\
import torch


@torch.compile
def one(event: torch.Tensor, time: torch.Tensor, i: int):
    order = {indices}
    n = len(time)
    return event[order[i]] * n
"""
    assert found(analysed(tmp_path, {"run.py": source})) == expected


@pytest.mark.parametrize(
    "edges", ["edges", "torch.stack([edges, edges])", "torch.cat([edges, edges], 1)"]
)
def test_a_row_of_indices_that_a_caller_hands_over(edges, tmp_path):
    source = f"""\
import torch


@torch.compile
def first(x: torch.Tensor, edges: torch.LongTensor):
    edges = {edges}
    return x[edges[0]] - x[edges[1]]
"""
    assert found(analysed(tmp_path, {"run.py": source})) == []


@pytest.mark.parametrize(
    ("read", "expected"),
    [
        ("scores[i, order[i]]", [("BRK213", 8)]),
        ("scores[i][order[i]]", [("BRK213", 8)]),
        ("scores[0, order[i]]", []),
    ],
)
def test_the_same_counter_beside_one_of_the_indices(read, expected, tmp_path):
    source = f"""\
import torch


@torch.compile
def picked(scores: torch.Tensor, order: torch.Tensor):
    total = 0.0
    for i in range(4):
        total = total + {read}
    return total
"""
    assert found(analysed(tmp_path, {"run.py": source})) == expected


BEFORE_A_LOOP = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, back):
        super().__init__()
        self.back = back

    def forward(self, x: torch.Tensor{more}):
        last = {first}
        for _ in range(3):
            bound = last - self.back
            y = x[:bound]
            last = {then}
        return y
"""


@pytest.mark.parametrize(
    ("first", "more", "then", "breaks"),
    [
        ("0", "", "x.argmax()", True),
        ("self.back", "", "x.argmax()", True),
        ("0", "", "last + 1", False),
        ("n", ", n: int = 0", "n + 1", False),
    ],
)
def test_a_number_before_the_loop_and_a_tensor_in_it(first, more, then, breaks, tmp_path):
    source = BEFORE_A_LOOP.format(first=first, more=more, then=then)
    expected = [("BRK206", 14)] if breaks else []
    assert found(analysed(tmp_path, {"net.py": source})) == expected


OPTIONAL = """\
import torch


class Net(torch.nn.Module):
    def forward(self, x, mask=None):
        {body}
        return x
"""


@pytest.mark.parametrize(
    "body",
    [
        "if mask: x = x.masked_fill(mask, 0.0) + mask.sum()",
        "x = x + mask.sum() if mask else x",
        "if not mask: return x\n        x = x + mask.sum()",
    ],
)
def test_the_truth_of_an_optional_tensor_is_read_when_it_is_given(body, tmp_path):
    result = analysed(tmp_path, {"net.py": OPTIONAL.format(body=body)})
    assert [(f.code, f.condition) for f in result.findings] == [("BRK101", "mask is not None")]
