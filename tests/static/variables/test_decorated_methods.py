"""Decorated methods of objects that a region makes. Dynamo of torch 2.13.0 ends the graph with GB0116 where a
code is expected, and nowhere else."""

import pytest
from programs import analysed, found

PROGRAM = """\
import functools, inspect, logging

import torch

SETTINGS = {{"rate": 2}}


class Settings:
    rate = 2


OBJECT = Settings()


def keeping(kept):
    def decorate(method):
        @functools.wraps(method)
        def wrapper(*args, **kwargs):
            return method(*args, **kwargs), kept

        return wrapper

    return decorate


def dropping(kept):
    def decorate(method):
        @functools.wraps(method)
        def wrapper(*args, **kwargs):
            return method(*args, **kwargs), OBJECT

        return wrapper

    return decorate


class Scale:
    def __init__(self, rate):
        self.rate = rate

    {decorator}
    def apply(self, x):
        return x * self.rate

    @property
    @keeping(3)
    def double(self):
        return self.rate * 2


class Bigger(Scale):
    def apply(self, x):
        return super().apply(x) + 1


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = Scale(2)

    def forward(self, x: torch.Tensor):
        {body}
"""
MADE = "return Scale(2).apply(x)"
CASES = [
    ("@torch.no_grad()", MADE, "BRK575"),
    ("@torch.no_grad", MADE, "BRK575"),
    ("@torch.autocast('cpu')", MADE, "BRK575"),
    ("@torch.no_grad()", "return self.scale.apply(x)", ""),
    ("@torch.no_grad()", "return Scale.apply(self.scale, x)", ""),
    ("@keeping(OBJECT)", MADE, "BRK575"),
    ("@keeping(torch.ones(3))", MADE, "BRK575"),
    ("@keeping(logging.getLogger('scale'))", MADE, "BRK575"),
    ("@keeping([1, OBJECT])", MADE, "BRK575"),
    ("@keeping(OBJECT)", "return self.scale.apply(x)", ""),
    ("@keeping(3)", MADE, ""),
    ("@keeping(SETTINGS)", MADE, ""),
    ("@keeping(Settings)", MADE, ""),
    ("@dropping(OBJECT)", MADE, ""),
    ("@keeping(3)", "return Bigger(2).apply(x)", ""),
]


@pytest.mark.parametrize(("decorator", "body", "code"), CASES)
def test_a_decorator_that_keeps_an_object(decorator, body, code, tmp_path):
    source = PROGRAM.format(decorator=decorator, body=body)
    line = source[: source.rindex(body)].count("\n") + 1
    result = analysed(tmp_path, {"model.py": source})
    assert found(result) == ([(code, line)] if code else [])


def test_an_object_that_a_break_hands_to_python(tmp_path):
    body = "scale = Scale(x.sum())\n        print('made')\n        return scale.apply(x)"
    source = PROGRAM.format(decorator="@torch.no_grad()", body=body)
    assert [code for code, _ in found(analysed(tmp_path, {"model.py": source}))] == ["BRK401"]
