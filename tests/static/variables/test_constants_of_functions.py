"""Values that the class of an autograd function holds, as Dynamo was seen to use them, and what is written to a
part of each row."""

import pytest
from programs import analysed, found

HEAD = """import torch


class Kept(torch.autograd.Function):
    EPS, ROUNDS, USES, NAME, EMPTY = 1e-6, 2, True, "kept", None
    SIZES = [1, 2]

    @staticmethod
    def forward(ctx, x):
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad

    @staticmethod
    def helped(x):
        return x + 1

    @classmethod
    def with_own(cls, x):
        {own}
        return x


@torch.compile
def step(x):
    buffer = torch.empty(3, 4)
    {line}
    return x
"""
BREAKS = [
    "x = x + Kept.EPS",
    "x = x.clamp(min=Kept.EPS)",
    "x = x[Kept.ROUNDS]",
    "for size in Kept.SIZES: x = x * size",
    "x = x * Kept.SIZES[0]",
    "if Kept.USES: x = x + 1",
    "if Kept.NAME == 'kept': x = x + 1",
    "if x.shape[0] > Kept.ROUNDS: x = x + 1",
    "x = x + getattr(Kept, 'EPS')",
    "torch.mul(x, x, out=buffer[..., 1:])",
    "torch.mul(x, x, out=buffer[:, 1:3])",
    "torch.mul(x, x, out=buffer[:, 1])",
]
TRACED = [
    "x = Kept.helped(x)",
    "x = x if Kept.EMPTY is None else -x",
    "x = Kept.apply(x)",
    "torch.mul(x, x, out=buffer[1:])",
    "torch.mul(x, x, out=buffer[:, :])",
    "torch.mul(x, x, out=buffer[..., 0:])",
    "torch.mul(x, x, out=torch.empty(4)[..., 1:])",
    "torch.mul(x, x, out=buffer[0, 1:])",
]


def codes(folder, line: str, own: str = "pass") -> list[str]:
    source = HEAD.format(line=line, own=own)
    return [f.code for f in analysed(folder, {"program.py": source}).findings]


@pytest.mark.parametrize("line", BREAKS)
def test_what_ends_the_graph(line, tmp_path):
    assert codes(tmp_path, line) == ["BRK576" if "out=" in line else "BRK620"]


@pytest.mark.parametrize("line", TRACED)
def test_what_is_traced(line, tmp_path):
    assert codes(tmp_path, line) == []


def test_a_class_method_reads_its_own_class(tmp_path):
    source = HEAD.format(line="x = Kept.with_own(x)", own="x = x + cls.EPS")
    assert found(analysed(tmp_path, {"program.py": source})) == [("BRK620", 22)]


MARKED = """import torch


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        {body}

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


@torch.compile
def step(x):
    return Doubled.apply(x * 1) + 1
"""


@pytest.mark.parametrize(
    ("body", "breaks"),
    [
        ("ctx.mark_dirty(x); return x.mul_(2)", True),
        ("y = x.mul_(2); ctx.mark_dirty(x); return y", True),
        ("y = x.mul_(2); ctx.mark_dirty(y); return y", False),
        ("x.mul_(2); ctx.mark_dirty(x); return x", False),
        ("x.mul_(2); ctx.mark_dirty(x); return x, 1", False),
    ],
)
def test_what_is_marked_is_returned_by_the_same_name(body, breaks, tmp_path):
    result = analysed(tmp_path, {"program.py": MARKED.format(body=body)})
    assert found(result) == [("BRK612", 16)] * breaks
