"""Gradients of compiled code that are differentiated in turn (torch 2.13.0: through AOTAutograd that raises)."""

import pytest
from programs import analysed, found

PROGRAM = """\
import torch

critic = torch.nn.Linear(4, 1)
compiled = torch.compile(critic{settings})
x = torch.ones(2, 4, requires_grad=True)
{lines}
"""
GRADIENT = "torch.autograd.grad({}, x, create_graph=True)"
CASES = {
    "of a call": (GRADIENT.format("compiled(x).sum()"), [6]),
    "of what is computed of it": (
        "score = compiled(x)\nscore = score.sum()\ng = " + GRADIENT.format("score"),
        [8],
    ),
    "by its keyword": (
        "torch.autograd.grad(outputs=compiled(x).sum(), inputs=x, create_graph=True)",
        [6],
    ),
    "of a loss": ("compiled(x).sum().backward(create_graph=True)", [6]),
    "in a function": (
        "def penalty(model):\n    return "
        + GRADIENT.format("model(x).sum()")
        + "\npenalty(compiled)",
        [7],
    ),
    "once": ("torch.autograd.grad(compiled(x).sum(), x)", []),
    "not to be differentiated": (
        "torch.autograd.grad(compiled(x).sum(), x, create_graph=False)",
        [],
    ),
    "of the module itself": (GRADIENT.format("critic(x).sum()") + "\ncompiled(x)", []),
    "in eager mode": (
        "with torch.compiler.set_stance('force_eager'):\n    score = compiled(x)\n"
        + GRADIENT.format("score.sum()"),
        [],
    ),
}


@pytest.mark.parametrize(("lines", "at"), CASES.values(), ids=CASES)
def test_a_gradient_of_compiled_code(lines, at, tmp_path):
    result = analysed(tmp_path, {"program.py": PROGRAM.format(settings="", lines=lines)})
    assert found(result) == [("BRK832", line) for line in at]


@pytest.mark.parametrize(
    ("backend", "raises"),
    [("inductor", True), ("aot_eager", True), ("eager", False), ("mine", False)],
)
def test_a_backend_that_compiles_the_backward_pass(backend, raises, tmp_path):
    settings = f', backend="{backend}"' if backend != "mine" else ", backend=mine"
    source = PROGRAM.format(settings=settings, lines=GRADIENT.format("compiled(x).sum()"))
    result = analysed(
        tmp_path, {"program.py": source.replace("critic =", "from made import mine\ncritic =")}
    )
    assert found(result) == ([("BRK832", 7)] if raises else [])
