"""Functions that are put in the place of a module's `forward` are traced where that module is called. Dynamo of
torch 2.13.0 breaks at the marked lines in a compiled model with such a module."""

import pytest
from programs import analysed, found, seen

PROGRAM = """
import functools
import types

import torch
from torch import nn


def plain(x):
    return x * x.sum().item()  # plain


def taking(self, x, mask=None):
    if x.sum() > 0:  # taking
        x = x + self.scale
    return x


class Runner:
    def __init__(self, model: nn.Module):
        self.model = model
        {set_in_init}

    def run(self, x):
        print(x)  # run
        return x


def patch(module: nn.Module):
    old = module.forward

    def inner(*args, **kwargs):
        print("called")  # inner
        return old(*args, **kwargs)

    def with_module(module, x):
        return old(x * x.max().item())  # with_module

    {set_in_function}
"""
IN_FUNCTION = {
    "module.forward = plain": {"plain": "BRK201"},
    "module.forward = inner": {"inner": "BRK401"},
    "setattr(module, 'forward', inner)": {"inner": "BRK401"},
    "module.forward = types.MethodType(taking, module)": {"taking": "BRK101"},
    "module.forward = taking.__get__(module, nn.Linear)": {"taking": "BRK101"},
    "module.forward = functools.wraps(old)(inner)": {"inner": "BRK401"},
    "module.forward = functools.update_wrapper(functools.partial(with_module, module), old)": {
        "with_module": "BRK201"
    },
    "nn.Linear.forward = taking": {"taking": "BRK101"},
    "module.__class__.forward = taking": {"taking": "BRK101"},
    "module.backward = plain": {},
    "module.forward = old": {},
}


def lines(source, marks):
    return sorted(
        (code, number)
        for mark, code in marks.items()
        for number, line in enumerate(source.splitlines(), 1)
        if line.endswith(f"# {mark}")
    )


@pytest.mark.parametrize("statement", IN_FUNCTION)
def test_what_a_function_sets(statement, tmp_path):
    source = PROGRAM.format(set_in_init="pass", set_in_function=statement)
    result = analysed(tmp_path, {"patches.py": source})
    wanted = lines(source, IN_FUNCTION[statement])
    assert sorted(seen(result)) == wanted
    is_for_good = "Linear.forward" in statement or "__class__" in statement
    assert sorted(found(result, ("likely",))) == (wanted if is_for_good else [])


@pytest.mark.parametrize(("base", "is_shown"), [("nn.Module", True), ("object", False)])
def test_a_method_of_another_object(base, is_shown, tmp_path):
    source = PROGRAM.format(set_in_init="self.model.forward = self.run", set_in_function="pass")
    source = source.replace("class Runner:", f"class Runner({base}):")
    result = analysed(tmp_path, {"patches.py": source})
    wanted = lines(source, {"run": "BRK401"})
    assert sorted(seen(result)) == wanted
    assert sorted(found(result, ("likely",))) == (wanted if is_shown else [])


def test_the_forward_of_a_class_is_one_region(tmp_path):
    source = "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        print(x)\n"
    source += "        return x\n\n\ndef patch(net: Net):\n    net.forward = net.forward\n"
    assert found(analysed(tmp_path, {"net.py": source})) == [("BRK401", 6)]
