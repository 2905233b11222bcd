"""A comprehension, or `filter`, that keeps elements by a tensor's value ends the graph.

The length of the result depends on data, and every element needs one bool: Dynamo breaks, the
loop runs in eager Python with one device synchronisation per element, and the rest becomes a
fragment that is compiled again for every new length. A dict comprehension or a generator expression
skips the whole function (GB8335 beside GB0170).

Keep all rows and carry a mask: multiply by it, `torch.where` with it, or sort finished rows to the
end. When the rows must really go, do it outside the compiled function, or pad to a fixed count with
`torch.nonzero_static(size=n)`.

The masked form has another shape than the filtered one, so what follows (a mean, a softmax) must
use the mask too; rows that are masked out still run through the arithmetic, and a NaN in them
reaches the gradient unless `torch.where` cleans the input before the dangerous operation.
"""

import torch

from breakscope.rulekit.events import Branch
from breakscope.rulekit.rule import Rule

rule = Rule("BRK107", "filter-on-tensor", dynamo=("GB8335",), shares=("GB0170",))


@rule.on(Branch, construct=("comprehension", "filter"))
def check(event):
    if event.test.is_tensor:
        yield event.problem(
            f"the condition `{event.source}` of this {event.construct} reads a tensor's value for every element",
            help="keep all elements and carry a mask (`torch.where`, a product), or filter outside the compiled code",
        )


@rule.example(
    lambda: (torch.arange(12.0).reshape(3, 4),), lambda: (torch.ones(3, 4),), dynamo=("GB0170",)
)
def bad(rows):
    rows = rows.cos()
    kept = [row for row in rows if row.sum() > 0]  # BRK107
    return sum(row.sum() for row in kept)


@rule.becomes
def good(rows):
    rows = rows.cos()
    mask = rows.sum(1) > 0
    return torch.where(mask, rows.sum(1), 0).sum()
