"""`unique` gives a result whose size depends on data, and the graph ends.

How many distinct values there are is only known after the operator ran (GB0036, from 2.6 to 2.15);
a loop over the result is then unrolled again for every count.

When the values are ids below a known `n`, a table of all ids does the work with fixed sizes:
`F.one_hot(ids, n).sum(0)` counts, `(F.one_hot(ids, n).sum(0) > 0)` says which occur, and
`torch.zeros(n, d).index_add(0, ids, rows)` groups rows. Otherwise sort and compare neighbours: `s =
ids.sort().values; s[1:] != s[:-1]` marks the first of each run. A loop over classes that are known
from the configuration needs no `unique` at all.

`unique` carries no gradient, so nothing is lost. The table has one row for each possible id, empty
ones included.
"""

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule("BRK305", "unique", dynamo=(r"GB0036: aten\.(_?unique|unique_)",))

NAMES = {
    f"{owner}.{name}" for owner in ("torch", "Tensor") for name in ("unique", "unique_consecutive")
} | {"numpy.unique"}


@rule.on(Call, NAMES)
def check(event):
    tensor = event.argument(0, "input") if event.receiver is None else event.receiver
    if getattr(tensor, "has_known_value", False):
        return  # made of one number of Python's, which torch knows
    yield event.graph_break(
        f"the size of `{event.source}` depends on the tensor's values",
        help="count over all known ids (`F.one_hot(ids, n).sum(0)`), or sort and compare neighbours",
        setting="capture_dynamic_output_shape_ops",
    )


@rule.example(lambda: (torch.tensor([1, 2, 0, 2]),), lambda: (torch.tensor([3]),))
def bad(ids):
    _, counts = torch.unique(ids, return_counts=True)  # BRK305
    return counts.max()


@rule.becomes
def good(ids):
    counts = torch.nn.functional.one_hot(ids, 4).sum(0)
    return counts.max()
