"""Python's `sorted`, `list.sort`, and `max` or `min` with a key, compare tensors and end the graph.

Plain `max(a, b)` and `min(a, b)` over 0-d tensors are traced (as `torch.maximum`), and so is
`sorted` by a key that is no tensor (`key=lambda t: t.shape[0]`). Sorting by values, and `max` or
`min` of tensors with any key, need the outcome of each comparison in Python. torch 2.13 reports
GB0207 for sorting, GB0193 for a key, GB0059 for `sorted(tensor)`, and GB0124 beside them when the
key calls `.item()`. `numbers.index(t)` and `.remove(t)` compare in the same way (GB0170).

Stack the candidates and let torch choose: `torch.stack(items).sort()`, `.argsort()`, `.topk(k)`, or
the stacked tensor indexed by `scores.argmax()[None]` (indexing a Python list by a tensor breaks
again, BRK205). Ties may fall differently: Python's sort is stable, `torch.sort` only with
`stable=True`, and NaN sorts last. Gradients flow through the chosen values in both forms.
"""

import ast

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule
from breakscope.rulekit.values import NONE, Dict, ExternalInstance, Instance, holds_tensor, options
from breakscope.rulekit.walking import last_name

rule = Rule(
    "BRK112",
    "sort-tensors-in-python",
    dynamo=("GB0207", "GB0193: op (min|max)", "GB0059: `sorted`"),
    shares=("GB0170",),
)


@rule.on(Call, "sorted", "list.sort", "min", "max")
def check(event):
    items = [event.receiver] if event.receiver is not None else list(event.args)
    key, is_open, pairs = event.kwargs.get("key", NONE), False, False
    if event.name in ("sorted", "list.sort") and not event.kwargs.keys() <= {"key", "reverse"}:
        return  # a tensor's own: `x.sort(dim=-1)`
    if event.name in ("min", "max"):
        compares = not key.is_none and any(
            holds_tensor(item) for item in items if not isinstance(item, Dict)
        )
    elif key.is_none:
        lists = [item for item in items if not isinstance(item, Dict)]
        compares = any(map(holds_tensor, lists))
        pairs = not compares and any(map(_pairs_with_objects, lists))
        # the items of a dict with open keys, as of `**kwargs`, which may be empty
        is_open = all(getattr(item, "items", ()) is None and _is_of_pairs(item) for item in lists)
    else:
        given = bool(items) and _of_tensors(items[0]) and _gives_tensor(key)
        compares = given or any(map(holds_tensor, items[1:]))  # what the key makes of an item
    name = event.name.removeprefix("list.")
    if pairs:
        yield event.graph_break(
            f"Python's `{name}` compares tuples that hold objects, and Dynamo sorts only constants",
            help="sort by what is constant in them: `key=lambda item: item[0]`",
            certainty="possible" if is_open else None,
        )
    elif compares:
        yield event.graph_break(
            f"Python's `{name}` compares tensors one by one",
            help="stack them and choose in torch: `torch.stack(items).sort()`, `.topk(k)` or `.max()`",
            certainty="possible" if is_open else None,
        )


def _is_of_pairs(items):
    return getattr(getattr(items, "element", None), "type", "") == "tuple"


def _pairs_with_objects(items):
    """True for tuples that hold an object or a module, as `d.items()` gives: Dynamo compares only
    constants."""
    element = getattr(items, "element", None) if getattr(items, "items", None) is None else items
    inside = getattr(element, "items", None) if getattr(element, "type", "") == "tuple" else None
    return any(
        isinstance(o, Instance | ExternalInstance) for part in inside or () for o in options(part)
    )


def _of_tensors(items):
    if isinstance(items, Dict):
        return False  # its keys are what is compared
    inside = getattr(items, "items", None) or [getattr(items, "element", items)]
    return items.is_tensor or all(item.is_tensor for item in inside)


def _gives_tensor(key):
    """True for a lambda over a tensor that reads none of its Python facts."""
    body = getattr(getattr(getattr(key, "info", None), "node", None), "body", None)
    names = {last_name(n) for n in ast.walk(body)} if isinstance(body, ast.expr) else {"len"}
    return not names & {"shape", "size", "numel", "ndim", "dim", "len", "id", "item", "dtype"}


@rule.on(Call, "list.index", "list.remove", "tuple.index")
def check_search(event):
    if event.args and event.args[0].is_tensor:
        yield event.graph_break(
            f"`{event.source}` compares the elements with a tensor one by one",
            help="compare as tensors, `(torch.tensor(values) == t).int().argmax()`, or search for a Python number",
        )


@rule.example(
    lambda: (torch.tensor([2.0, 1.0]),), lambda: (torch.tensor([-1.0, 0.0]),), dynamo=("GB0207",)
)
def bad(x):
    low, high = sorted([x[0], x[1]])  # BRK112
    return high - low


@rule.becomes
def good(x):
    low, high = torch.stack([x[0], x[1]]).sort().values
    return high - low


@rule.example(
    lambda: (torch.tensor([2.0, -3.0]),), lambda: (torch.tensor([-1.0, 0.0]),), dynamo=("GB0193",)
)
def bad_key(x):
    far = max([x[0], x[1]], key=lambda t: t.abs())  # BRK112
    return far * 2


@rule.becomes
def good_key(x):
    far = x.take(x.abs().argmax())
    return far * 2
