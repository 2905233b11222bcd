"""Lists, tuples, sets and what behaves like them. The body of each program begins in line 9; the
branches on tensors break under Dynamo of torch 2.13.0, the others do not."""

import pytest
from programs import analysed, found, region

BODIES = {
    "an item": ("l = [x.sum(), 2]\nif l[0] > 0:\n    x = x + 1\n", [("BRK101", 10)]),
    "another item": ("l = [x.sum(), 2]\nif l[1] > 0:\n    x = x + 1\n", []),
    "from the end": ("l = [2, x.sum()]\nif l[-1] > 0:\n    x = x + 1\n", [("BRK101", 10)]),
    "an item that is set": (
        "l = [1]\nl[0] = x.sum()\nif l[0] > 0:\n    x = x + 1\n",
        [("BRK101", 11)],
    ),
    "a slice": ("l = [1, x.sum(), 2]\nif l[1:][0] > 0:\n    x = x + 1\n", [("BRK101", 10)]),
    "append": ("l = []\nl.append(x.sum())\nif l[0] > 0:\n    x = x + 1\n", [("BRK101", 11)]),
    "insert": (
        "l = [1]\nl.insert(0, x.sum())\nif l[0] > 0:\n    x = x + 1\nif l[1] > 0:\n    x = x + 1\n",
        [("BRK101", 11)],
    ),
    "a tuple that grows from an empty one": (
        "l = ()\nfor i in range(2):\n    l = l + (x.sum(),)\nif l[-1] > 0:\n    x = x + 1\n",
        [("BRK101", 12)],
    ),
    "a list that grows in some turns": (
        "l = []\nfor i in range(4):\n    if i % 2:\n        l = [*l, x.sum()]\nfor v in l:\n    if v > 0:\n        x = x + 1\n",
        [("BRK101", 14)],
    ),
    "an item that is deleted": (
        "l = [1, x.sum(), 2]\ndel l[0]\nif l[0] > 0:\n    x = x + 1\nif l[1] > 0:\n    x = x + 1\n",
        [("BRK101", 11)],
    ),
    "what is put at the left of a deque": (
        "from collections import deque\n"
        "l = deque([1])\nl.appendleft(x.sum())\nl.extendleft([2, 3])\n"
        "if l[2] > 0:\n    x = x + 1\nif l[0] > 2 and l[3] > 0:\n    x = x + 1\n",
        [("BRK101", 13)],
    ),
    "the product of what may be text": (
        "l = ['a', x]\nl = l[len(x) :]\ny = l.pop() * l.pop()\n",
        [],
    ),
    "pop": (
        "l = [1, x.sum()]\nif l.pop() > 0:\n    x = x + 1\nif l[0] > 0:\n    x = x + 1\n",
        [("BRK101", 10)],
    ),
    "added lists": (
        "l = [1] + [x.sum()]\nif l[1] > 0:\n    x = x + 1\nif l[0] > 0:\n    x = x + 1\n",
        [("BRK101", 10)],
    ),
    "a repeated list": (
        "l = [1, x.sum()] * 2\nif l[3] > 0:\n    x = x + 1\nif l[2] > 0:\n    x = x + 1\n",
        [("BRK101", 10)],
    ),
    "a list that grows in place": (
        "l = [1]\nl += [x.sum()]\nif l[1] > 0:\n    x = x + 1\n",
        [("BRK101", 11)],
    ),
    "unpacked": (
        "a, *b, c = (1, x.sum(), 2, 3)\nif b[0] > 0:\n    x = x + 1\nif c > 0:\n    x = x + 1\n",
        [("BRK101", 10)],
    ),
    "enumerate": (
        "for i, v in enumerate([x.sum()]):\n    if i > 0:\n        x = x + 1\n    if v > 0:\n        x = x + 1\n",
        [("BRK101", 12)],
    ),
    "zip": (
        "for a, b in zip([1], [x.sum()]):\n    if b > a:\n        x = x + 1\n",
        [("BRK101", 10)],
    ),
    "its length, truth and type": (
        "l = [x.sum()]\nif l and len(l) == 1 and isinstance(l, (list, tuple)) and type(l) is list:\n    x = x + 1\n",
        [],
    ),
    "an empty list is false": ("l = []\nif l:\n    x = x + x.item()\n", []),
    "a constant in a list": ("if 3 in [1, 2]:\n    x = x + x.item()\n", []),
    "the index of a constant": ("if ['a', 'b'].index('b') == 0:\n    x = x + x.item()\n", []),
    "a set has no order": ("s = {1, 2} | {3}\nif 1 in s:\n    x = x + 1\n", []),
    "an index that is a tensor": ("l = [1, 2]\ny = l[x.argmax()]\n", [("BRK205", 10)]),
    "a shape": (
        "n, = x.shape\nif n > 2 and x.size(0) > 2 and x.shape[0] > 2:\n    x = x + 1\n",
        [],
    ),
    "a range": ("for i in range(3):\n    if i > 1:\n        x = x + 1\n", []),
}


@pytest.mark.parametrize("name", BODIES)
def test_a_list(name, tmp_path):
    body, expected = BODIES[name]
    assert found(region(tmp_path, body)) == expected


@pytest.mark.parametrize(
    ("made", "breaks"),
    [
        ("[x, x]", True),
        ("{'a': x}", True),
        ("deque([x, x])", True),
        ("OrderedDict(a=x)", False),
        ("(x, x)", False),
    ],
)
def test_a_copy(made, breaks, tmp_path):
    body = f"import copy\nfrom collections import OrderedDict, deque\nc = copy.copy({made})\n"
    assert found(region(tmp_path, body)) == ([("BRK506", 11)] if breaks else [])


@pytest.mark.parametrize(
    "other", ["[x.sum(), x.mean()]", "[x.sum() for _ in range(self.count)]", "[x.sum()]"]
)
def test_lists_that_meet_keep_the_condition(other, tmp_path):
    text = f"""\
import torch


class Net(torch.nn.Module):
    def __init__(self, kept=None, count: int = 2):
        super().__init__()
        self.kept = kept
        self.count = count

    def forward(self, x: torch.Tensor):
        if self.kept is None:
            rows = [1, 2]
        else:
            rows = {other}
        if rows[0] > 0:
            return x + 1
        return x
"""
    result = analysed(tmp_path, {"net.py": text})
    assert [(f.code, f.line, f.condition) for f in result.findings] == [
        ("BRK101", 15, "self.kept is not None")
    ]


LIMITED = """\
import collections
import torch

kept = collections.deque([1, 2]{limit})


@torch.compile
def step(x):
    own = collections.deque([1]{limit})
    if own.maxlen is None:
        x = x + 1
    return x + 1 if kept.maxlen is None else x - 1
"""


@pytest.mark.parametrize(("limit", "wanted"), [(", maxlen=4", [("BRK830", 12)]), ("", [])])
def test_the_limit_of_a_deque_that_is_given(limit, wanted, tmp_path):
    """Dynamo has that of one that the region makes."""
    assert found(analysed(tmp_path, {"kept.py": LIMITED.format(limit=limit)})) == wanted


@pytest.mark.parametrize("read", ["a, b = given", "for a in self.layers:\n            pass"])
def test_an_item_of_an_empty_list_may_be_asked_its_type(read, tmp_path):
    source = f"""\
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([])

    def forward(self, x, given=[]):
        {read}
        if isinstance(a, int):
            x = x + 1
        if x.sum() > 0:
            x = x + 1
        return x
"""
    result = analysed(tmp_path, {"net.py": source})
    assert {code for code, _ in found(result)} == {"BRK101"} and not result.gaps
