"""Custom operators without a fake implementation: `torch.compile` raises at their calls (torch 2.13)."""

import pytest
from programs import analysed, found

PROGRAM = """\
import torch
from torch.library import custom_op, impl_abstract, register_fake

@custom_op("mine::twice", mutates_args={mutates})
def twice(x: torch.Tensor) -> {returns}:
    {body}

{registers}

@torch.compile
def f(x):
    twice(x)
    return x + 1
"""
REGISTERS = [
    "@twice.register_fake\ndef _(x):\n    return torch.empty_like(x)",
    '@register_fake("mine::twice")\ndef _(x):\n    return torch.empty_like(x)',
    '@torch.library.register_fake("mine::twice")\ndef _(x):\n    return torch.empty_like(x)',
    "@register_fake(twice)\ndef _(x):\n    return torch.empty_like(x)",
    '@impl_abstract("mine::twice")\ndef _(x):\n    return torch.empty_like(x)',
]


def lines(tmp_path, registers, mutates="()", returns="torch.Tensor", body="return x * 2"):
    source = PROGRAM.format(mutates=mutates, returns=returns, body=body, registers=registers)
    places = found(analysed(tmp_path, {"program.py": source}))
    return [source.splitlines()[line - 1].strip() for code, line in places if code == "BRK621"]


@pytest.mark.parametrize("registers", REGISTERS)
def test_a_fake_implementation_is_registered(registers, tmp_path):
    assert lines(tmp_path, registers) == []


@pytest.mark.parametrize(
    "registers",
    ["", REGISTERS[0].replace("twice", "other"), REGISTERS[2].replace("twice", "other")],
)
def test_none_is(registers, tmp_path):
    assert lines(tmp_path, registers) == ["twice(x)"]


def test_an_operator_that_returns_nothing_needs_none(tmp_path):
    assert lines(tmp_path, "", '{"x"}', "None", "x.mul_(2)") == []
