"""A numpy draw of one number ends the graph.

Dynamo runs `np.random.rand()`, `np.random.uniform()`, `np.random.randint(n)`, `np.random.choice(n)`
on torch, where they make a tensor; numpy promises a Python number, so the value is read back with
`.item()`, and that ends the graph. The same functions with a size (`np.random.rand(3)`) return an
array and stay in the graph.

Draw a tensor: `torch.rand(())`, `torch.randint(n, ())`. The numbers come from torch's generator, so
they differ from before for the same seed. `random.uniform(0, 1)` is traced too and gives a Python
float.
"""

import numpy as np
import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule("BRK511", "numpy-scalar-draw", shares=("GB0033",))

# Where the size stands when it is given by position; `rand` and `randn` take sizes only.
SIZE = {
    "rand": 0,
    "randn": 0,
    "random": 0,
    "random_sample": 0,
    "uniform": 2,
    "normal": 2,
    "randint": 2,
    "choice": 1,
}


@rule.on(Call, {f"numpy.random.{name}" for name in SIZE})
def check(event):
    name = event.name.rpartition(".")[2]
    size = event.argument(SIZE[name], "size")
    if size is None or size.is_none:
        yield event.graph_break(
            f"`{event.shown}` draws one number, which is read back from a tensor",
            help="draw a tensor, as `torch.rand(())`, or give a size",
        )


@rule.on(Call, "numpy.random.choice")
def check_sized_choice(event):
    size = event.argument(1, "size")
    if size is not None and not size.is_none:
        yield event.graph_break(
            f"`{event.shown}` reads values back from a tensor",
            help="draw the indices with `torch.randint`",
        )


@rule.example(lambda: (torch.ones(4),), equal=False)
def bad(x):
    scale = np.random.uniform(0.5, 1.5)  # BRK511
    return x * scale


@rule.becomes
def good(x):
    scale = torch.empty(()).uniform_(0.5, 1.5)
    return x * scale
