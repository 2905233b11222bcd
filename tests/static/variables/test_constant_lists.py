"""Lists that a method of a text gives. Dynamo of torch 2.13.0 ends the graph where a change is expected to be a break
(GB0156, GB7786), and nowhere else."""

import pytest
from programs import analysed, found

PROGRAM = """\
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.names = "a,b"

    def parts(self):
        return self.names.split(",")

    def forward(self, x: torch.Tensor, text: str):
        x = x * 2
        {first}
        {then}
        return x + len(p)
"""
CASES = [
    ('p = "a,b".split(",")', 'p.append("c")', True),
    ('p = "a,b".rsplit(",", 1)', "p.reverse()", True),
    ('p = "a".splitlines()', "p.clear()", True),
    ('p = self.names.split(",")', "p.pop()", True),
    ("p = self.parts()", 'p.insert(0, "z")', True),
    ("p = text.split()", 'p.remove("a")', True),
    ('p = f"{x.shape[0]} b".split()', "p.sort()", True),
    ('p = "a b".split()[1:]', 'p.extend(["c"])', True),
    ('p = "a b".split()', 'p[0] = "c"', True),
    ('p = "a b".split()', "del p[0]", True),
    ('p = list("a b".split())', 'p.append("c")', False),
    ('p = [*"a b".split()]', 'p.append("c")', False),
    ('*p, q = "a b".split()', 'p.append("c")', False),
    ('p = sorted("a b".split())', 'p.append("c")', False),
    ('p = "a b".split(); p += ["c"]', 'p.append("d")', False),
    ('p = "a b".split() + ["c"]', 'p.append("d")', False),
    ('p = "a b".split().copy()', 'p.append("d")', False),
    ("p = list(x.shape)", "p.append(1)", False),
]


@pytest.mark.parametrize(("first", "then", "breaks"), CASES)
def test_a_change_of_such_a_list_is_a_break(tmp_path, first, then, breaks):
    program = PROGRAM.format(first=first, then=then)
    assert found(analysed(tmp_path, {"net.py": program})) == ([("BRK542", 15)] if breaks else [])


def test_a_break_hands_the_list_to_python(tmp_path):
    """Behind it, it is a list like any other; the second change of two is none either."""
    program = PROGRAM.format(first='p = "a b".split()', then='print(x); p.append("c")')
    assert found(analysed(tmp_path, {"net.py": program})) == [("BRK401", 15)]
    program = PROGRAM.format(first='p = "a b".split(); p.append("c")', then='p.append("d")')
    assert found(analysed(tmp_path, {"net.py": program})) == [("BRK542", 14)]
