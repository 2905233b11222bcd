"""Numbers of `random` that Dynamo keeps in the graph: what needs their value, and what does not."""

import pytest
from programs import analysed, found, region

HEAD = """\
import random
import torch
layers = torch.nn.ModuleList([torch.nn.ReLU(), torch.nn.ReLU()])
@torch.compile
def step(x):
    n = random.randint(1, 3)
"""


def lines(folder, body):
    return [line for _, line in found(analysed(folder, {"run.py": HEAD + body + "    return x\n"}))]


@pytest.mark.parametrize(
    "needs",
    [
        "x[:n]", "x[..., n:]", "x[n]", "layers[n](x)", "[x, x][n]", "{1: x}[n]", "'abc'[n]", "(x, x)[1:n]",
        "range(n)", "int(n)", "float(n)", "bool(n)", "round(n, 1)", "-n", "n in (0, 1)", "n + 1",
        "torch.arange(n)", "torch.zeros(n, 2)", "x.new_zeros(n)", "x.repeat(n, 1)", "x.narrow(0, 0, n)",
        "x.reshape([n, -1])", "torch.roll(x, n)", "torch.topk(x, k=n)", "x.sum(n)", "x.mean(dim=n)", "x.flip((n,))",
        "torch.nn.functional.dropout(x, 1 / 4 * 1, n)", "torch.nn.functional.dropout(x, p=n)",
    ],
)  # fmt: skip
def test_what_needs_the_value_ends_the_graph(needs, tmp_path):
    is_default = needs.endswith("1, n)")  # a flag
    assert lines(tmp_path, f"    y = {needs}\n") == ([] if is_default else [7])


@pytest.mark.parametrize(
    "keeps",
    ["x * n", "n * x", "x + n", "x ** n", "max(n, 2)", "abs(n)", "torch.full((2,), n)", "torch.tensor(n)",
     "torch.linspace(0, n, 3)", "(x, n)", "{'n': n}", "isinstance(n, int)", "f'{n}'",
     "torch.arange()", "torch.zeros(*[])", "x.sum(*())", "x.roll(**{})"],
)  # fmt: skip
def test_what_does_not_need_it_goes_on(keeps, tmp_path):
    assert lines(tmp_path, f"    y = {keeps}\n") == []


def test_behind_a_break_it_is_a_plain_number(tmp_path):
    body = "    y = x[n]\n    z = x[n:]\n    if n > 2:\n        x = x.roll(n)\n    m = random.randint(1, 3)\n    x = x[m]\n"
    assert lines(tmp_path, body) == [7, 12]


@pytest.mark.parametrize("drawn", ["sample(range(len(x)), 3)", "choices([0, 1], k=3)"])
def test_what_is_sampled_is_a_list(drawn, tmp_path):
    program = (
        "import random\nimport torch\n@torch.compile\ndef step(x):\n"
        f"    n = torch.tensor(random.{drawn})\n    return x[n]\n"
    )
    assert found(analysed(tmp_path, {"run.py": program})) == [("BRK405", 5)]


@pytest.mark.parametrize("drawn", ["choice(8, n, replace=False)", "permutation(8)"])
def test_what_is_drawn_as_an_array_is_no_single_index(drawn, tmp_path):
    body = f"n = min(len(x), 4)\norder = torch.tensor(np.random.{drawn})\nx = x[order]\n"
    codes = {code for code, _ in found(region(tmp_path, body))}
    assert codes
    assert "BRK213" not in codes
