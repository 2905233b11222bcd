"""An index that is a tensor of one number compiles the region again for each number.

`table[i]` with a 0-d integer tensor `i` that the region is given selects: torch turns `i` into a Python int before it
does so. Dynamo knows the number of an argument while it traces, keeps it in the graph, and guards it
(`i.item() == 3`): each other number is a new graph, until the recompile limit is reached. `table[i, 0]`,
`table[i] = v`, `dynamic=True` and an `i` that is written in place are no different. Measured on 2.13. An index that is
computed in the region ends the graph instead (BRK213).

Make the index 1-d, which is a gather: `table[i[None]][0]`, or `table.index_select(0, i)`. Or pass a Python int, which is
a symbol from its second value on.
"""

import torch

from breakscope.rulekit.events import Varies
from breakscope.rulekit.rule import Rule

rule = Rule(
    "BRK733",
    "index-by-given-number",
    kind="recompile",
    severity="warning",
    dynamo=("attribute",),
)


@rule.on(Varies, what="index")
def check(event):
    yield event.problem(
        f"`{event.name}` is a 0-d tensor, and as an index its number is guarded: each one is compiled by itself",
        help=f"make the index 1-d, `x[{event.name}[None]][0]` or `x.index_select(0, {event.name})`",
    )


def calls():
    return [(torch.ones(10, 4), torch.tensor(number)) for number in range(3)]


@rule.example(calls=calls)
def bad(table, i):
    return table[i] * 2  # BRK733


@rule.becomes
def good(table, i):
    return table[i[None]][0] * 2
