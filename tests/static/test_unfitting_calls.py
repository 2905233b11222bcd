"""Calls of what the rules listen to with arguments of every kind, fitting or not: no rule and no part
of the analyzer fails on one."""

import random

import pytest
from programs import analysed

from breakscope.rulekit.loader import load_rules

HEAD = """import collections, contextlib, copy, functools, itertools, logging, math, operator, random, types
import numpy as np
import torch
from elsewhere import unknown
from torch import nn


class Own:
    def __init__(self, x):
        self.x = x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.layers = nn.Linear(3, 3), nn.ModuleList([nn.Linear(3, 3)])

"""
VALUES = (
    "x|{'a': x, 'b': 1}|{}|[x, 1]|[]|'abc'|3|2.5|None|self.layer|(lambda v: v)|(v for v in [1, x])|{1, 2}|Own|"
    "Own(x)|unknown|(x, None)|((x, 1), 2)|x.shape|x.shape[0]|x > 0|np.ones(3)|torch.sin|x.sum|True|x.dtype|"
    "iter([1])|enumerate([x])|self.layers|torch.no_grad()|slice(0, x[0])|self|Net|x.to_sparse()"
).split("|")
WORDS = "key dim dtype size out default reverse mode device func axis".split()
FORMS = (
    "r = %s|if %s:\n            x = x + 1|for q in %s:\n            x = x + q|with %s as w:\n            x = x + 1|"
    "r = x[%s]|x = x + %s|a, b = %s|x[%s] = 1|assert %s|r = int(%s)|return %s|raise ValueError(%s)"
).split("|")
CALLS = 60  # in one program


def program(seed):
    draw = random.Random(seed)
    names = sorted({name for rule in load_rules() for h in rule.handlers for name in h.names})
    methods = []
    for name in draw.sample(names, CALLS):
        given = draw.choices(VALUES, k=draw.randrange(4))
        given += [f"{word}={draw.choice(VALUES)}" for word in draw.sample(WORDS, draw.randrange(3))]
        parts = name.split(".")
        if not all(part.isidentifier() for part in parts):
            continue
        owner = ".".join(parts[:-1]) or "torch"
        callee = f"{draw.choice((owner, f'({draw.choice(VALUES)})'))}.{parts[-1]}"
        methods.append(draw.choice(FORMS) % f"{callee}({', '.join(given)})")
    bodies = [
        f"    def m{i}(self, x: torch.Tensor):\n        {m}\n        return x\n"
        for i, m in enumerate(methods)
    ]
    chosen = "".join(
        f"        if x.shape[0] == {i}:\n            return self.m{i}(x)\n"
        for i in range(len(methods))
    )
    forward = f"    def forward(self, x: torch.Tensor):\n{chosen}        return x\n"
    return HEAD + "\n".join([*bodies, forward])


@pytest.mark.parametrize("seed", range(12))
def test_nothing_fails_on_arguments_of_any_kind(seed, tmp_path):
    result = analysed(tmp_path, {"program.py": program(seed)})
    assert result.errors == () and result.gaps == ()
    assert result.findings
