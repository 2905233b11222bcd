"""A number in a tensor that torch reads as a size or an index: behind a break it is an input of the
next graph, and Dynamo guards on it instead of breaking."""

import pytest
from programs import analysed, found, region


def test_what_torch_has_read_is_an_input_from_there_on(tmp_path):
    body = "i = x.argmax()\na = x[i]\nb = x[i]\nc = torch.zeros(i)\n"
    assert found(region(tmp_path, body)) == [("BRK213", 10)]


def test_so_it_is_behind_any_other_break(tmp_path):
    body = "i = x.argmax()\nprint('x')\nx = x[i]\n"
    assert found(region(tmp_path, body)) == [("BRK401", 10)]


def test_but_what_is_computed_of_it_behind_the_break_is_not(tmp_path):
    body = "i = x.argmax()\nprint('x')\nx = x[i - 1]\n"
    assert found(region(tmp_path, body)) == [("BRK401", 10), ("BRK213", 11)]


def test_a_break_that_may_not_happen_makes_no_inputs(tmp_path):
    body = "i = x.argmax()\nif x.shape[0] > 3:\n    print('x')\nx = x[i]\n"
    assert found(region(tmp_path, body)) == [("BRK401", 11), ("BRK213", 12)]


def test_what_a_called_function_has_read_the_caller_need_not_read(tmp_path):
    body = """\
    def steps(n):
        return torch.arange(n)

    i = x.argmax()
    steps(i)
    x = x.expand(i, 4)
    """
    assert found(region(tmp_path, body)) == [("BRK208", 10)]


def test_by_item_python_reads_it_each_time(tmp_path):
    body = "i = x.argmax()\na = x[i]\nx = x * i.item()\n"
    assert found(region(tmp_path, body)) == [("BRK213", 10), ("BRK201", 11)]


def test_what_is_handed_over_is_an_input_of_the_callee_s_next_graph(tmp_path):
    body = """\
    def grid(height, width):
        rows = torch.arange(height)
        columns = torch.arange(width)
        return rows, columns

    grid(x.argmax(), x.argmin())
    """
    assert found(region(tmp_path, body)) == [("BRK208", 10)]


KEPT = """\
import torch


class Store:
    def __init__(self):
        self.at = torch.tensor(0)
        self.rows = torch.zeros(8, 4)


store, start = Store(), torch.tensor(1)


def step(x: torch.Tensor):
    {body}
"""


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("return store.rows[store.at] + x", 0),
        ("store.rows[store.at] = x\n    return x", 0),
        ("return store.rows[start] + x", 0),
        ("return torch.zeros(start) + x", 0),
        ("store.at += 1\n    return store.rows[store.at] + x", 15),
        ("return store.rows[store.at + 1] + x", 14),
    ],
)
def test_a_number_that_was_made_before_the_region_is_an_input(body, line, tmp_path):
    source = KEPT.format(body=body)
    result = analysed(tmp_path, {"program.py": source}, "program.py::step")
    assert [place for _, place in found(result)] == [line] * bool(line)


@pytest.mark.parametrize(
    ("made", "lines"),
    [
        ("n = x.sum(-1).int().max()", [10, 11, 12]),
        ("n = x.sum(-1).to(torch.int32)[0]", [10, 11, 12]),
        ("n = x.sum(-1).to(dtype=torch.int32).max()", [10, 11, 12]),
        ("n = x.sum(-1).int().sum()", [10]),  # int64 again
        ("n = x.sum(-1).int().long().max()", [10]),
        ("n = x.sum(-1).long().max()", [10]),
    ],
)
def test_a_number_of_fewer_bits_is_read_each_time(made, lines, tmp_path):
    """Dynamo guards on what int64 holds alone. Measured under torch 2.13."""
    body = f"{made}\na = torch.zeros(n)\nb = torch.arange(n)\nc = x.view(-1, n)\n"
    assert [place for _, place in found(region(tmp_path, body))] == lines


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("print('x')\nx.unsqueeze_(0)\n", [("BRK401", 9), ("BRK565", 10)]),
        ("print('x')\nx = x + 1\nx.unsqueeze_(0)\n", [("BRK401", 9)]),
        ("x.unsqueeze_(0)\nprint('x')\n", [("BRK401", 10)]),
        ("if x.shape[0] > 3:\n    print('x')\nx.unsqueeze_(0)\n", [("BRK401", 10)]),
    ],
)
def test_a_view_is_changed_in_place_of_an_input_behind_a_break(body, expected, tmp_path):
    assert found(region(tmp_path, body)) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("i = x.argmax(1, keepdim=True)\ni.squeeze_(1)\nx = x[i[0]]\n", [("BRK213", 11)]),
        ("i = x.sum().long()\ni.unsqueeze_(0)\nx = x[i]\n", []),
    ],
)
def test_an_index_has_the_dimensions_that_it_was_given_in_place(body, expected, tmp_path):
    result = region(tmp_path, body, arguments="torch.ones(4, 4)")
    assert found(result) == expected
