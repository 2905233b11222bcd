"""Arguments that are compared by identity, each program measured under torch 2.13."""

import textwrap

import pytest
from programs import analysed, found, marked

HEAD = """\
import torch

class Node:
    def __init__(self, weight=1.0):
        self.weight = weight

root = Node()
special = [root, Node()]
w, v = torch.nn.Parameter(torch.ones(2)), torch.nn.Parameter(torch.ones(2))
x = torch.ones(2)

"""
PROGRAMS = {
    "an object": """
        @torch.compile
        def step(x, node):
            return x + 1 if node is root else x - 1  # BRK838

        step(x, root)
        step(x, Node())
    """,
    "in a list, and as an equal": """
        @torch.compile
        def step(x, node):
            x = x + 1 if node in special else x - 1  # BRK838
            return x * 2 if node == root else x  # BRK838

        step(x, Node())
        step(x, root)
    """,
    "a parameter": """
        @torch.compile
        def step(x, p):
            return x + p if p is w else x - p  # BRK838

        step(x, w)
        step(x, v)
    """,
    "the answer is the same": """
        @torch.compile
        def step(x, node):
            return x + 1 if node is root else x - 1

        step(x, Node())
        step(x, Node())
    """,
    "a guard on what is read tells them apart": """
        @torch.compile
        def step(x, node):
            y = x * node.weight  # BRK709
            return y + 1 if node is root else y - 1

        step(x, root)
        step(x, Node(2.0))
    """,
    "a closure, where the first call has the very object": """
        def main():
            own = Node()

            @torch.compile
            def step(x, node):
                return x + 1 if node is own else x - 1

            step(x, own)
            step(x, Node())

        main()
    """,
    "a closure, where a later call has it": """
        def main():
            own = Node()

            @torch.compile
            def step(x, node):
                return x + 1 if node is own else x - 1  # BRK838

            step(x, Node())
            step(x, own)

        main()
    """,
    "a sentinel of another type": """
        MISSING = object()

        @torch.compile
        def step(x, mask=MISSING):
            return x + 1 if mask is MISSING else x * mask  # BRK720

        step(x)
        step(x, torch.zeros(2))
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name, tmp_path):
    source = HEAD + textwrap.dedent(PROGRAMS[name])
    assert sorted(found(analysed(tmp_path, {"m.py": source}))) == sorted(marked(source))
