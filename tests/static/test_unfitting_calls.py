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


CALLEES = (
    "itertools.count itertools.repeat itertools.cycle itertools.islice itertools.chain itertools.product "
    "itertools.permutations itertools.combinations itertools.accumulate itertools.pairwise sorted reversed next "
    "iter enumerate zip map filter sum min max len list tuple dict set range copy.copy copy.deepcopy "
    "collections.deque collections.defaultdict collections.OrderedDict collections.Counter random.choice "
    "random.random random.randint random.uniform random.shuffle time.time time.perf_counter math.floor math.sqrt "
    "functools.partial functools.reduce torch.utils.data.DataLoader torch.utils.data.Subset "
    "torch.utils.data.TensorDataset torch.utils.data.random_split torch.optim.SGD torch.optim.Adam "
    "torch.optim.lr_scheduler.StepLR torch.compile nn.Linear nn.Embedding nn.Sequential torch.zeros torch.cat "
    "torch.stack torch.topk torch.where torch.split x.transpose x.squeeze x.unsqueeze x.repeat x.repeat_interleave x.sum x.numel "
    "x.sum().squeeze x.sum().transpose x[0].numel torch.arange torch.linspace torch.eye x.reshape x.view x.expand x.chunk x.split x.unbind kept.append "
    "kept.pop kept.extend table.update table.clear table.get table.setdefault queue.append queue.extend steps.send "
    "own.x.append np.arange np.array np.prod run net part random.sample random.choices np.linspace np.geomspace x.tolist "
    "torch.chunk torch.unbind x.multinomial x.gather torch.maximum x.lerp torch.zeros_like x.new_ones x.to x.contiguous "
    "nn.functional.conv1d nn.functional.conv2d nn.functional.avg_pool1d nn.functional.max_pool2d nn.Conv1d nn.MaxPool1d "
    "nn.functional.adaptive_avg_pool1d nn.AdaptiveAvgPool2d(2) nn.Conv1d(4,3,2) nn.MaxPool1d(2) nn.Flatten() "
    "nn.functional.pad nn.functional.interpolate torch.inference_mode torch.set_grad_enabled net.compile net.forward"
).split()
AROUND = (
    "%s|r = %s; run(x, r)|for q in %s: run(x, q)|for i, q in enumerate(%s): run(x, q, i)|run(*[v for v in %s])|"
    "run(x, {k: 1 for k in %s})|while %s: run(x)|if %s: run(x)|kept = %s; run(x, kept)|table[%s] = 1; run(x, table)|"
    "a, b = %s; run(x, a)|kept += %s|del table[%s]|x = %s; run(x)|own.x = %s; run(x, own)|queue[0] = %s"
).split("|")
GIVEN = (
    *VALUES,
    *"kept|table|queue|steps|own|part|-1|0|1|2|10**9|[3, 1, 2]|['b', 'a']|(1, 2)|'ab'|float('inf')|1j|run".split(
        "|"
    ),
)
DRIVER = """

@torch.compile
def run(x, *more, **named):
    for value in more:
        x = x + len(named)
    return x * 2


def numbers(n):
    for i in range(n):
        yield i

"""
MAIN = """

def main_{number}():
    x, net, part = torch.ones(4, 3), torch.compile(nn.Linear(3, 3)), nn.Embedding(3, 4)
    kept, table, queue = [1, x], {{"a": x}}, collections.deque([1], maxlen=2)
    own, steps = Own([x]), numbers(3)
    {line}
    run(x)


main_{number}()
"""


def driver_program(seed):
    draw = random.Random(seed)
    lines = []
    for _ in range(CALLS):
        given = draw.choices(GIVEN, k=draw.randrange(4))
        words = draw.sample([*WORDS, "repeat", "maxlen", "batch_size", "collate_fn"], 2)
        given += [f"{word}={draw.choice(GIVEN)}" for word in words[: draw.randrange(3)]]
        lines.append(draw.choice(AROUND) % f"{draw.choice(CALLEES)}({', '.join(given)})")
    mains = [MAIN.format(number=number, line=line) for number, line in enumerate(lines)]
    return HEAD.partition("class Net")[0] + DRIVER + "".join(mains)


@pytest.mark.parametrize("seed", range(12))
def test_nothing_fails_in_the_code_around_a_region(seed, tmp_path):
    result = analysed(tmp_path, {"program.py": driver_program(seed)})
    assert result.errors == () and result.gaps == ()
