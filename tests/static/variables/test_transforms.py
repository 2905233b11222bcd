"""Functions that torch.func makes of functions: the given one is followed, and results are tensors."""

import pytest
from programs import analysed, found

HEAD = """\
import torch
from torch.func import grad, grad_and_value, hessian, jacfwd, jacrev, jvp, vjp, vmap
def loss(x):
    print(x)
    return x.sin().sum()
def quiet(x, y=2):
    return x.sin().sum(), y
@torch.compile
def step(x):
    y = x
"""


def lines(folder, body):
    source = HEAD + body + "    if y.sum() > 0:\n        x = x + 1\n    return x\n"
    return sorted(line for _, line in found(analysed(folder, {"run.py": source})))


@pytest.mark.parametrize(
    "call",
    ["grad(loss)(x)", "grad_and_value(loss)(x)", "jacrev(loss)(x)", "jacfwd(loss)(x)", "hessian(loss)(x)",
     "vmap(grad(loss))(x)", "grad(lambda a: loss(a))(x)", "vjp(loss, x)",
     "jvp(loss, (x,), (x,))", "grad(loss, argnums=0, has_aux=False)(x)", "torch.func.grad(loss)(x)", "vjp(loss, *[x])"],
)  # fmt: skip
def test_the_function_is_followed(call, tmp_path):
    assert lines(tmp_path, f"    z = {call}\n") == [4, 12]


@pytest.mark.parametrize(
    "body",
    [
        "    y = grad(lambda a: a.sum())(x)\n",
        "    y, z = grad(quiet, has_aux=True)(x)\n",
        "    z, (y, w) = grad_and_value(quiet, 0, True)(x)\n",
        "    (y, w), f = vjp(quiet, x)\n",
        "    z, y = jvp(lambda a: a.sin(), (x,), (x,))\n",
        "    y = jacrev(lambda a: a.sin())(x)\n",
    ],
)
def test_what_they_return(body, tmp_path):
    assert lines(tmp_path, body) == [12]


@pytest.mark.parametrize(
    "call",
    ["grad()", "grad()(x)", "grad(1)(x)", "grad(func=quiet)(x)", "grad(quiet)()", "grad(quiet, [], {})(x)",
     "grad(quiet, 'a', 'b', 3)(x)", "grad(quiet, **{})(x)", "grad(*[])(x)", "grad(quiet, 7)(x)", "vjp()", "vjp(*[])",
     "vjp(quiet)", "jvp()", "jvp(quiet)", "jvp(quiet, x, x)", "jvp(quiet, (), ())", "jvp(*[], primals=(x,))",
     "grad(quiet, has_aux=x)(x)", "hessian(quiet)(*x)"],
)  # fmt: skip
def test_odd_calls_are_no_error_of_ours(call, tmp_path):
    result = analysed(tmp_path, {"run.py": HEAD + f"    z = {call}\n    return x\n"})
    assert not [gap for gap in result.gaps if "internal error" in str(gap)]
    assert not result.errors
