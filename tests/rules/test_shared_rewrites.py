"""Rewrites of whole functions and of several places: what they make, that it runs as before in one
graph, and what they leave alone."""

import importlib.util

import pytest
import torch

from breakscope.fixes import FixOptions, fixed_sources
from breakscope.static import StaticOptions

STARTS = """import torch

MARKS = [0, 1]


def starts_of(ids: torch.Tensor):
    found = torch.zeros_like(ids).bool()
    for mark in MARKS:
        found |= ids == mark
    rows = torch.nonzero(found)[:, 0]
    starts = torch.zeros(ids.shape[0])
    first = 0
    for i in range(rows.shape[0]):
        row = rows[i]
        if row > 0:
            starts[first:row] = torch.arange(0, row - first)
        first = row
    return starts.long()


def region(ids):
    return starts_of(ids) + ids


def make():
    return region, (torch.tensor([1, 5, 0, 7, 7, 1]),), {}
"""
FAKE = """@starts_of.register_fake
def _(ids):
    starts = torch.zeros(ids.shape[0])
    return starts.long()
"""
SPAN = """import torch


class Span:
    def __init__(self, mask):
        self.mask = mask

    def __bool__(self):
        return bool(self.mask.any())


def make():
    def region(x):
        span = Span(x > 3)
        y = x.sin()
        if span:
            y = y * 2
        return y

    return region, (torch.ones(2),), {}
"""
TESTED = "        y = torch.where(span.mask.any(), y * 2, y)\n"
LOCKED = """import threading

import torch

lock = threading.Lock()


def make():
    def region(x):
        y = x * 2
        with lock:
            y = y + 1
        return y

    return region, (torch.ones(2),), {}
"""
UNLOCKED = "        with contextlib.nullcontext() if torch.compiler.is_compiling() else lock:\n"
CHOICE = """import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("scale", torch.ones(2))
        self.first = torch.ones(2)

    def forward(self, x):
        if x.sum() > 3:
            if not hasattr(self, "second"):
                self.second = torch.full((2,), 2.0)
            self.register_buffer("scale", self.second, persistent=False)
        else:
            # may have moved
            self.first = self.first.to(x.device)
            self.register_buffer("scale", self.first, persistent=False)
        return x * self.scale


def make():
    return Model(), (torch.ones(2),), {}
"""
CHOSEN = """        second = torch.full((2,), 2.0)
        # may have moved
        self.first = self.first.to(x.device)
        scale = torch.where(x.sum() > 3, second, self.first)
        self.register_buffer("scale", scale, persistent=False)
"""


def fixed(text, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(text, encoding="utf-8")
    options = StaticOptions(entries=(f"{program}::make",))
    made = fixed_sources([str(program)], options, FixOptions(unsafe=True))
    return made.new.get(str(program), text.encode()).decode()


def loaded(text, tmp_path, name):
    file = tmp_path / f"{name}.py"
    file.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("text", "wanted", "inputs"),
    [
        (STARTS, FAKE, [torch.tensor([1, 5, 0, 7, 7, 1]), torch.tensor([7, 7, 7, 0, 0, 5])]),
        (CHOICE, CHOSEN, [torch.ones(2), torch.full((2,), 5.0), torch.ones(2)]),
        (SPAN, TESTED, [torch.ones(2), torch.full((2,), 5.0)]),
        (LOCKED, UNLOCKED, [torch.ones(2), torch.full((2,), 5.0)]),
    ],
    ids=["leaf", "store", "own truth", "lock"],
)
def test_the_rewritten_program_is_one_graph_and_computes_the_same(text, wanted, inputs, tmp_path):
    new = fixed(text, tmp_path)
    assert wanted in new
    function = loaded(text, tmp_path, "before").make()[0]
    with torch._dynamo.config.patch(capture_scalar_outputs=False):  # a fixed program may set it
        other = loaded(new, tmp_path, "after").make()[0]
        torch._dynamo.reset()
        compiled = torch.compile(other, backend="eager", fullgraph=True)
        for x in inputs:
            assert torch.equal(function(x), compiled(x))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("starts_of(ids: torch.Tensor)", "starts_of(ids)"),
        ("starts = torch.zeros(ids.shape[0])", "starts = torch.rand(ids.shape[0])"),
        ("starts = torch.zeros(ids.shape[0])", "starts = torch.zeros(rows.shape[0])"),
        ("    first = 0\n", "    first = 0\n    ids[0] = 1\n"),
        ("MARKS:", "marks():"),
    ],
    ids=["unknown argument", "random numbers", "size by values", "argument changed", "a call"],
)
def test_other_functions_are_no_leaf(old, new, tmp_path):
    assert "register_fake" not in fixed(STARTS.replace(old, new), tmp_path)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("self.first = self.first.to(x.device)", "self.count = self.count + 1"),
        ('self.register_buffer("scale", self.first', 'self.register_buffer("other", self.first'),
        ("self.second, persistent=False", "self.second / x.sum(), persistent=False"),
    ],
    ids=["a side counts", "another place", "a pole"],
)
def test_other_stores_are_not_chosen(old, new, tmp_path):
    assert "torch.where" not in fixed(CHOICE.replace(old, new), tmp_path)


def test_only_a_draw_lets_the_bound_go_first(tmp_path):
    text = CHOICE.replace("x.sum() > 3", "x[0] < self.bound").replace("else:", "elif x[1] < 0:")
    assert "self.bound > 0" not in fixed(text, tmp_path)
