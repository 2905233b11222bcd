"""Tensors that a program hands to a compiled function in several dtypes, or seems to, measured under torch 2.13:
what is marked is compiled again, and nothing else is."""

import re
import textwrap

import pytest
from programs import analysed, found

PROGRAMS = {
    "the dtype of an attribute": """
        class Memory:
            def __init__(self, patterns):
                self.patterns = patterns
                self.recall = torch.compile(lambda a, p: a @ p.T)

            def __call__(self, probe):
                return self.recall(probe.to(self.patterns.dtype), self.patterns)

        memory = Memory(torch.randn(10, 32).sign())
        memory(torch.randn(10, 32))
        memory(torch.randn(10, 32).double())
    """,
    "a dtype that nobody knows": """
        import sys

        step = torch.compile(lambda x: x + 1)
        step(torch.rand(4))
        step(torch.rand(4).double().to(getattr(torch, sys.argv[1])))
    """,
    "the dtype of a module's parameter, which was converted": """
        layer = torch.nn.Linear(4, 4).double()
        step = torch.compile(lambda x: x + 1)
        step(torch.rand(4).double())
        step(torch.rand(4).to(layer.weight.dtype))
    """,
    "complex from the first call on": """
        step = torch.compile(lambda x: torch.fft.ifft2(torch.fft.fft2(x)) * 2)
        x = torch.rand(4, 4).to(torch.complex64)
        for _ in range(3):
            x = step(x)
    """,
    "complex from the second call on": """
        step = torch.compile(lambda x: torch.fft.ifft2(torch.fft.fft2(x)) * 2)  # BRK717
        x = torch.rand(4, 4)
        for _ in range(3):
            x = step(x)
    """,
    "what is made complex": """
        step = torch.compile(lambda x: x + 1)  # BRK717
        step(torch.rand(4))
        step(torch.zeros(4, dtype=torch.complex64) + 1)
    """,
    "a product of doubles": """
        step = torch.compile(lambda x: x + 1)  # BRK717
        step(torch.rand(4))
        step(torch.rand(4).double() * 2)
    """,
    "a function of doubles": """
        step = torch.compile(lambda x: x + 1)
        step(torch.rand(4, dtype=torch.float64))
        step(torch.rand(4).double().sin())
    """,
    "doubles that are floats again": """
        step = torch.compile(lambda x: x + 1)
        step(torch.rand(4))
        step((torch.rand(4).double() * 2).float())
        step(torch.rand(4).double().type_as(torch.rand(4)))
    """,
    "the size of complex numbers": """
        step = torch.compile(lambda x: x + 1)
        step(torch.rand(4))
        step(torch.fft.fft(torch.rand(4)).abs())
    """,
    "the real part of complex numbers is a view": """
        step = torch.compile(lambda x: x + 1)  # BRK715
        step(torch.rand(4))
        step(torch.rand(4).to(torch.complex64).real)
    """,
    "half by a number, in a tensor of no dimension": """
        step = torch.compile(lambda x: x + 1)
        step(torch.rand(4).half())
        step(torch.rand(4).half() * torch.tensor(2.0))
    """,
    "half by floats": """
        step = torch.compile(lambda x: x + 1)  # BRK717
        step(torch.rand(4).half())
        step(torch.rand(4).half() * torch.rand(4))
    """,
}


@pytest.mark.parametrize("source", PROGRAMS.values(), ids=PROGRAMS)
def test_dtypes_of_calls(tmp_path, source):
    source = "import torch\n\n" + textwrap.dedent(source)
    marked = [
        (code, number)
        for number, line in enumerate(source.splitlines(), 1)
        for code in re.findall(r"BRK\d+", line)
    ]
    assert found(analysed(tmp_path, {"program.py": source})) == marked
