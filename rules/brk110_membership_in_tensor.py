"""`value in tensor` reads the tensor, and Dynamo skips the whole function.

`in` must answer with a Python bool, so the comparison's result is read on the host. torch 2.13
cannot resume in the middle of it: the function falls back to eager from its first line (GB0124; 2.9
called it GB0088, 2.11 GB0170). So it does for `tensor not in [...]` (GB0033). `tensor in [...]` is
traced and gives a boolean tensor; an `if` on that is BRK101.

Write `(t == value).any()`, or `torch.isin(t, values)` for several values; both stay in the graph
and give a boolean tensor, for `torch.where` and arithmetic alike. If an `if` follows, replace it
too (BRK101): often the body is already a masked operation that does nothing when the value is
absent, and then the `if` may simply go. Comparisons carry no gradient, so nothing changes there.
"""

import torch

from breakscope.rulekit.events import ScalarRead
from breakscope.rulekit.rule import Rule

rule = Rule(
    "BRK110",
    "membership-in-tensor",
    shares=("GB0124", "GB0033", "GB0170", "GB0088"),
    unshown=("GB0088",),
    fix="unsafe",
)


@rule.on(ScalarRead, how="contains")
def check(event):
    in_tensor = not event.source.startswith(event.expression)  # else `tensor not in list`
    yield event.graph_break(
        f"`{event.source}` reads a tensor to answer with a Python bool",
        help="write `(t == value).any()` or `torch.isin(t, values)`, which stay in the graph",
        fixable=in_tensor,
        skips="call",
    )


@rule.rewrite
def rewrite(node, problem):
    import libcst as cst

    from breakscope.rulekit import rewriting as rw

    found = rw.find(node, problem) if isinstance(node, cst.SimpleStatementLine | cst.If) else None
    if not isinstance(found, cst.Comparison) or len(found.comparisons) != 1:
        return None
    target = found.comparisons[0]
    if not isinstance(target.operator, cst.In) or not isinstance(
        target.comparator, (cst.Name, cst.Attribute)
    ):
        return None
    return rw.swap(node, found, f"({rw.code(target.comparator)} == {rw.operand(found.left)}).any()")


@rule.example(
    lambda: (torch.tensor([1, 2, 0]),), lambda: (torch.tensor([1, 2]),), dynamo=("GB0124",)
)
def bad(ids):
    padded = 0 in ids  # BRK110
    return ids * padded


@rule.becomes
def good(ids):
    padded = (ids == 0).any()
    return ids * padded
