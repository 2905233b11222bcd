"""Attributes that the `__setitem__` of an own OrderedDict sets, read where Dynamo of torch 2.13.0
made the object."""

import pytest
from programs import analysed, found

PROGRAM = """\
from collections import OrderedDict, UserDict

import torch


class Output({base}):
    def __setitem__(self, key, value):
        super().__setitem__(key, value)
        {sets}
{more}

class Encoder(torch.nn.Module):
    def forward(self, x):
        out = {made}
        return out


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder()

    def forward(self, x: torch.Tensor):
        out = self.encoder(x * 2)
        return {read} + 1
"""
PLAIN = "super().__setattr__(key, value)"
BY_NAME = "\n    def __getattr__(self, key):\n        return self[key]\n"


@pytest.mark.parametrize(
    ("base", "sets", "more", "made", "read", "breaks"),
    [
        ("OrderedDict", PLAIN, "", "Output(mean=x, std=x)", "out.mean", True),
        ("OrderedDict", PLAIN, "", "Output({'mean': x})", "out.mean", True),
        ("OrderedDict", PLAIN, "", "Output([('mean', x)])", "out.mean", True),
        ("OrderedDict", "self.__dict__[key] = value", "", "Output(mean=x)", "out.mean", True),
        ("OrderedDict", "object.__setattr__(self, key, value)", "", "Output(mean=x)", "out.mean", True),
        ("OrderedDict", PLAIN, "", "Output(mean=x)", "out['mean']", False),
        ("OrderedDict", PLAIN, BY_NAME, "Output(mean=x)", "out.mean", False),
        ("OrderedDict", PLAIN, "", "Output(); out['mean'] = x", "out.mean", False),
        ("OrderedDict", PLAIN, "", "Output(mean=x); out['mean'] = x", "out.mean", False),
        ("OrderedDict", PLAIN, "", "Output(mean=x); out.mean = x", "out.mean", False),
        ("UserDict", "self.__dict__[key] = value", "", "Output(mean=x)", "out.mean", False),
    ],
)  # fmt: skip
def test_what_the_constructor_is_given_sets_no_attribute(
    tmp_path, base, sets, more, made, read, breaks
):
    program = PROGRAM.format(base=base, sets=sets, more=more, made=made, read=read)
    result = found(analysed(tmp_path, {"program.py": program}))
    line = program.splitlines().index(f"        return {read} + 1") + 1
    assert result == ([("BRK568", line)] if breaks else [])


def test_an_attribute_read_in_a_try_is_no_break(tmp_path):
    program = PROGRAM.format(
        base="OrderedDict", sets=PLAIN, more="", made="Output(mean=x)", read="out.mean"
    ).replace(
        "        return out.mean + 1",
        "        try:\n            return out.mean\n        except AttributeError:\n            return x",
    )
    assert found(analysed(tmp_path, {"program.py": program})) == []
