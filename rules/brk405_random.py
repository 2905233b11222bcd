"""A function of Python's `random` that Dynamo does not trace ends the graph.

Dynamo knows `random.uniform`, `random.randint`, `random.randrange` (it runs them again in every
call, so the numbers stay random). It does not know `random.random()`, `choice`, `shuffle`,
`sample`, `gauss` and the others: there it stops the graph. What the number decides is worse: `if
random.random() < p` picks a Python path, so each path becomes a graph of its own, and in a loop
over layers the whole function is skipped.

For a number, write `random.uniform(0, 1)`, which draws the same value as `random.random()`. For a
decision, draw it with torch (`torch.rand(())`) and blend with `torch.where` or a mask, or draw it
outside the region and pass it in as an argument; `random.shuffle` of an index is
`torch.randperm(n)`. The draws then come from torch's generator: other numbers than before for the
same seed.

The rewrite to `random.uniform(0, 1)` draws the same number of the same generator. It counts as unsafe
because the number is a float64 tensor in a compiled graph: the product with a 0-d tensor or one of
integers is float64 there, where Python's float leaves float32. Where the number decides, both sides
run.
"""

import random

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule(
    "BRK405",
    "python-random",
    dynamo=(r"GB0007: Random\.", r"GB0156: of class `Random`", r"GB0008: SystemRandom"),
    fix="unsafe",
)

UNTRACED = tuple(
    """
    choice choices shuffle sample gauss normalvariate lognormvariate expovariate betavariate
    gammavariate triangular vonmisesvariate paretovariate weibullvariate getrandbits randbytes
    getstate setstate
    """.split()
)
FUNCTIONS = {f"random.{name}" for name in (*UNTRACED, "random", "seed")}
# of an own Random, `random()` and `seed()` are traced
METHODS = {f"random.Random.{name}" for name in UNTRACED}
HELP = {
    "random": "write `random.uniform(0, 1)` for a number; for a decision draw `torch.rand(())` and use `torch.where`",
    "shuffle": "draw the order with `torch.randperm(n)`",
    "sample": "draw the indices with `torch.randperm(n)[:k]`",
    "choice": "pass the choice in as an argument, or draw an index with `torch.randint`",
    "seed": "seed outside the compiled region",
}


@rule.on(Call, FUNCTIONS, METHODS)
def check(event):
    name = event.name.rpartition(".")[2]
    yield event.problem(
        f"Dynamo does not trace `{event.name}`, so the graph ends at `{event.shown}`",
        help=HELP.get(name, "draw it with torch's own generators, or outside the compiled region"),
    )


@rule.rewrite
def rewrite(node, problem, place):
    import libcst as cst

    from breakscope.rulekit import rewriting as rw
    from breakscope.rulekit.rewrites.drawing import decided_by_tensor
    from breakscope.rulekit.scalars import may_stay_tensor

    found = rw.find(node, problem)
    if not isinstance(found, cst.Call) or found.args or rw.dotted(found.func) != "random.random":
        return None
    if any(rw.is_comparison(part) for part in rw.parts(node)):
        return decided_by_tensor(node, found, problem, place)
    if isinstance(node, cst.SimpleStatementLine) and may_stay_tensor(node, found, place):
        return rw.swap(node, found, "random.uniform(0, 1)")
    return None


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0007",))
def bad(x):
    scale = random.random()  # BRK405
    return x * scale


@rule.becomes
def good(x):
    scale = random.uniform(0, 1)
    return x * scale


@rule.example(lambda: (torch.ones(3, 4),), equal=False, fixed=False, dynamo=("GB0007",))
def bad(x):
    rows = list(range(3))
    random.shuffle(rows)  # BRK405
    return x[torch.tensor(rows)] + 1


@rule.becomes
def good(x):
    return x[torch.randperm(3)] + 1
