"""Python's `sorted`, `list.sort`, and `max` or `min` with a key, compare tensors one by one and end the graph.

Plain `max(a, b)` and `min(a, b)` over 0-d tensors are traced (as `torch.maximum`), but sorting, and choosing by a key,
need the outcome of each comparison in Python. torch 2.13 reports GB0207 for sorting, GB0193 for a key, GB0059 for
`sorted(tensor)`, and GB0124 beside them when the key calls `.item()`.

Stack the candidates and let torch choose: `torch.stack(items).sort()`, `.argsort()`, `.topk(k)`, or
the stacked tensor indexed by `scores.argmax()[None]` (indexing a Python list by a tensor breaks again, BRK205). Ties may fall differently: Python's sort is stable, `torch.sort` only with `stable=True`, and NaN sorts last.
Gradients flow through the chosen values in both forms.
"""

import torch

from breakscope.events import Call
from breakscope.rule import Rule
from breakscope.values import holds_tensor

rule = Rule("BRK112", "sort-tensors-in-python", dynamo=("GB0207", "GB0193: op (min|max)", "GB0059: `sorted`"))


@rule.on(Call, "sorted", "list.sort", "min", "max")
def check(event):
    items = [event.receiver] if event.receiver is not None else list(event.args)
    by_key = "key" in event.kwargs
    if any(holds_tensor(item) for item in items) and (by_key or event.name in ("sorted", "list.sort")):
        name = event.name.removeprefix("list.")
        yield event.problem(
            f"Python's `{name}` compares tensors one by one, so the graph ends here",
            help="stack them and choose in torch: `torch.stack(items).sort()`, `.topk(k)` or `.max()`",
        )


@rule.example(lambda: (torch.tensor([2.0, 1.0]),), lambda: (torch.tensor([-1.0, 0.0]),), dynamo=("GB0207",))
def bad(x):
    low, high = sorted([x[0], x[1]])  # BRK112
    return high - low


@rule.becomes
def good(x):
    low, high = torch.stack([x[0], x[1]]).sort().values
    return high - low


@rule.example(lambda: (torch.tensor([2.0, -3.0]),), lambda: (torch.tensor([-1.0, 0.0]),), dynamo=("GB0193",))
def bad_key(x):
    far = max([x[0], x[1]], key=lambda t: t.abs())  # BRK112
    return far * 2


@rule.becomes
def good_key(x):
    far = x.take(x.abs().argmax())
    return far * 2
