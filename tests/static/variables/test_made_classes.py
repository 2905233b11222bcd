"""Stores to classes that a call in the region has made. Dynamo of torch 2.13.0 ends the graph at each
(GB0467), and traces those to classes of the module's top."""

import pytest
from programs import analysed, found

PROGRAM = """\
import torch
from collections import namedtuple
from torch import nn


class Base:
    pass


Known = namedtuple("Known", "a b")


def names(self):
    return self._fields


def make(fields):
    return namedtuple("Output", fields)


@torch.compile
def f(x, given: dict):
    cls = {made}
    {store}
    return x + 1
"""
CASES = [
    ('namedtuple("Output", "a b")', "cls.keys = names", True),
    ('namedtuple("Output", sorted(given.keys()))', "cls.keys = names", True),
    ('namedtuple("Output", "a b")', 'setattr(cls, "keys", names)', True),
    ('make("a b")', "cls.keys = names", True),
    ('type("Output", (Base,), {"a": 1})', "cls.b = 2", True),
    ('type("Output", (nn.Module,), {})', "cls.b = 2", True),
    ('namedtuple("Output", "a b")', "cls.a", False),
    ('type("Output", (Base,), {"a": 1})', "cls.a", False),
    ("Base", "cls.b = 2", False),
    ("Known", "cls.keys = names", False),
    ("type(x)", "cls", False),
]


@pytest.mark.parametrize("made, store, breaks", CASES)
def test_store_to_a_class_that_a_call_makes(made, store, breaks, tmp_path):
    program = PROGRAM.replace("{made}", made).replace("{store}", store)
    line = program.splitlines().index("    " + store) + 1
    result = analysed(tmp_path, {"program.py": program})
    assert found(result) == ([("BRK550", line)] if breaks else [])
