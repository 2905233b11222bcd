"""`heapq` and `bisect` end the graph.

Their functions are written in C and Dynamo has no version of its own, so the graph ends at each
call, even when the lists hold plain Python numbers. In a search loop (beams, nearest neighbours)
the whole function is then skipped.

For tensors write `torch.topk`, `torch.sort`, `torch.searchsorted`. For short Python lists write
`sorted(...)`, `min`, `max`, which Dynamo traces: `sorted(items)[:k]` is `heapq.nsmallest(k,
items)`.
"""

import heapq

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule(
    "BRK513",
    "heap-and-bisect",
    dynamo=(r"GB0007: builtin `_(heapq|bisect)\.", "GB0059: operator `object`"),
)

HEAP = {
    f"heapq.{name}"
    for name in "heappush heappop heapify heappushpop heapreplace nlargest nsmallest".split()
}
BISECT = {
    f"bisect.{name}"
    for name in ("bisect", "bisect_left", "bisect_right", "insort", "insort_left", "insort_right")
}


@rule.on(Call, HEAP, BISECT)
def check(event):
    better = "`torch.searchsorted`" if event.name.startswith("bisect") else "`torch.topk`"
    yield event.problem(
        f"`{event.name}` is C code that Dynamo does not trace, so the graph ends at `{event.shown}`",
        help=f"write {better} for tensors, `sorted(...)` for short Python lists",
    )


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0007",))
def bad(x):
    queue = [3, 1, 2]
    heapq.heapify(queue)  # BRK513
    return x + queue[0]


@rule.becomes
def good(x):
    queue = sorted([3, 1, 2])
    return x + queue[0]
