"""Python's `any` and `all` over tensors read every element, and the graph ends.

The builtins test the truth of each element and stop at the first answer: a data-dependent branch
per element. Over a generator expression torch 2.13 cannot resume and the whole function runs in
eager mode (GB8335 beside GB0170).

Use the tensor's own reduction: `mask.any()`, `mask.all()`; over a list of tensors
`torch.stack([...]).any()`. It runs as one kernel and stays in the graph. What comes back is a 0-d
boolean tensor: fine in arithmetic and `torch.where`; an `if` on it is the next break (BRK101). On a
tensor of two or more dimensions the builtin raises, the method reduces over everything. Bools carry
no gradient either way.
"""

import torch

from breakscope.rulekit.events import Branch
from breakscope.rulekit.rule import Rule

rule = Rule("BRK108", "any-all-over-tensors", shares=("GB0170", "GB8335"), fix="unsafe")


@rule.on(Branch, construct=("any", "all"))
def check(event):
    if event.test.is_tensor:
        yield event.graph_break(
            f"the builtin `{event.construct}` tests the truth of tensor elements one by one",
            help=f"write `mask.{event.construct}()`, or `torch.stack([...]).{event.construct}()` for a list of tensors",
        )


@rule.rewrite
def rewrite(node, problem):
    import libcst as cst

    from breakscope.rulekit import rewriting as rw

    for part in rw.parts(node):
        if (
            isinstance(part, cst.Call)
            and rw.dotted(part.func) in ("any", "all")
            and len(part.args) == 1
        ):
            mask = part.args[0].value
            if rw.is_comparison(mask) and (
                rw.same(mask, problem.node) or rw.same(part, problem.node)
            ):
                return rw.swap(node, part, f"{rw.operand(mask)}.{part.func.value}()")
    return None


@rule.example(
    lambda: (torch.ones(4),),
    lambda: (-torch.ones(4),),
    lambda: (torch.empty(0),),
    dynamo=("GB0170",),
)
def bad(x):
    hot = any(x > 0)  # BRK108
    return x.cos() * hot


@rule.becomes
def good(x):
    hot = (x > 0).any()
    return x.cos() * hot


@rule.example(
    lambda: (torch.ones(2, 2),), lambda: (-torch.ones(2, 2),), dynamo=("GB0170", "GB8335")
)
def bad_generator(rows):
    hot = any(row.sum() > 0 for row in rows)  # BRK108
    return rows * hot
