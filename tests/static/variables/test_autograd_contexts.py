"""What `forward` of an autograd function keeps on its context is what `backward` finds there."""

import pytest
from programs import analysed

HEAD = """import torch
from torch import nn


class Kept(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, is_kept=True):
{forward}
        return x * 2

    @staticmethod
    def backward(ctx, grad):
{backward}
        return grad, None


class Net(nn.Module):
    def forward(self, x):
        return Kept.apply(x)
"""
BREAKS = {
    "a mask": ("ctx.mask = x > 0", "grad = grad + grad[ctx.mask].sum()", ["BRK302"]),
    "a saved mask": (
        "ctx.save_for_backward(x, x > 0)",
        "x, mask = ctx.saved_tensors\ngrad = grad + grad[mask].sum()",
        ["BRK302"],
    ),
    "a number of a tensor": (
        "ctx.top = x.max()",
        "if ctx.top > 1:\n    grad = -grad",
        ["BRK101"],
    ),
    "what needs a gradient": (
        "ctx.n = 1",
        "if ctx.needs_input_grad[0]:\n    grad = grad * grad.max().item()",
        ["BRK201"],
    ),
    "a list that is changed": ("ctx.rows = [1]", "grad = grad * ctx.rows.pop()", ["BRK613"]),
    "an attribute that is deleted": ("ctx.rows = [1]", "del ctx.rows", ["BRK613"]),
    "a setting that nobody keeps": (
        "ctx.is_kept = is_kept\nif not ctx.other:\n    x.storage()",
        "pass",
        ["BRK520"],
    ),
}
TRACED = {
    "a number": ("ctx.n = 2", "if ctx.n > 1:\n    grad = grad * ctx.n"),
    "a size": ("ctx.shape = x.shape", "grad = grad.reshape(ctx.shape)"),
    "a list of its own": ("pass", "ctx.rows = []\nctx.rows.append(1)"),
    "a list that forward changes": (
        "ctx.rows = []\nctx.rows.append(2)",
        "grad = grad * ctx.rows[0]",
    ),
    "a saved tensor": ("ctx.save_for_backward(x)", "(x,) = ctx.saved_tensors\ngrad = grad * x"),
}


def codes(folder, forward: str, backward: str) -> list[str]:
    indented = [
        "".join(f"        {line}\n" for line in text.split("\n")) for text in (forward, backward)
    ]
    source = HEAD.format(forward=indented[0].rstrip(), backward=indented[1].rstrip())
    return [f.code for f in analysed(folder, {"program.py": source}).findings]


@pytest.mark.parametrize("name", BREAKS)
def test_what_ends_the_graph(name, tmp_path):
    forward, backward, wanted = BREAKS[name]
    assert codes(tmp_path, forward, backward) == wanted


@pytest.mark.parametrize("name", TRACED)
def test_what_is_traced(name, tmp_path):
    assert codes(tmp_path, *TRACED[name]) == []


def test_a_function_of_all_that_a_module_is_given(tmp_path):
    source = HEAD.format(
        forward="        ctx.rows = [1]", backward="        ctx.rows.pop()"
    ).replace(
        "forward(self, x):\n        return Kept.apply(x)",
        "forward(self, *xs):\n        return Kept.apply(*xs)",
    )
    assert [f.code for f in analysed(tmp_path, {"program.py": source}).findings] == ["BRK613"]


LEFT = """import torch
from torch import nn


class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, is_shown=True):
        {forward}
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        print("backward")
        return gradient * 2, None


class Net(nn.Module):
    def forward(self, x):
        return Twice.apply(x) + 1
"""


@pytest.mark.parametrize(
    ("forward", "lines"),
    [("print(x)", [8]), ("pass", [13]), ("if ctx.other:\n            print(x)", [9, 14])],
)
def test_behind_a_break_in_forward_nobody_traces_backward(forward, lines, tmp_path):
    result = analysed(tmp_path, {"net.py": LEFT.format(forward=forward)})
    assert [(f.code, f.line) for f in result.findings] == [("BRK401", line) for line in lines]


def test_nor_where_a_condition_decides_the_call(tmp_path):
    source = LEFT.format(forward="print(x)").replace(
        "        return Twice.apply(x) + 1",
        "        if self.is_twice:\n            x = Twice.apply(x)\n        return x + 1",
    )
    result = analysed(tmp_path, {"net.py": source})
    assert [(f.code, f.line) for f in result.findings] == [("BRK401", 8)]
