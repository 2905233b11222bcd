"""`and` and `or` test the truth of a tensor, and that ends the graph.

Python's `a and b` must know whether `a` is true before it looks at `b`. With a tensor on the left
that is a data-dependent branch: Dynamo ends the graph, reads the bool, and goes on, whether or not
an `if` stands around it. `flag and tensor` with a plain Python flag on the left is free as long as
nothing needs the result's truth.

Write `a & b`, `a | b` for boolean tensors (mind the parentheses: `(x > 0) & (y > 0)`), or
`torch.logical_and(a, b)` for any dtype. For a default, `x or y` with a tensor on the left nearly
always means `y if x is None else x`.

What changes: both sides are always computed, so the right side must be valid even where the left is
False; the result is a boolean tensor and not one of the operands. When an `if` uses the result,
that `if` is the next break (BRK101).
"""

import torch

from breakscope.rulekit.events import Branch
from breakscope.rulekit.rule import Rule

rule = Rule("BRK104", "and-or-on-tensor", shares=("GB0170",), fix="unsafe")


@rule.on(Branch, construct=("and", "or"))
def check(event):
    if event.test.is_tensor:
        sign, name = ("&", "logical_and") if event.construct == "and" else ("|", "logical_or")
        yield event.graph_break(
            f"`{event.construct}` tests the truth of the tensor `{event.source}`",
            help=f"write `(a) {sign} (b)` or `torch.{name}(a, b)`; for a default write `b if a is None else a`",
        )


@rule.rewrite
def rewrite(node, problem):
    import libcst as cst

    from breakscope.rulekit import rewriting as rw

    for part in rw.parts(node):
        if isinstance(part, cst.BooleanOperation) and rw.same(part.left, problem.node):
            if not (rw.is_bool_tensor(part.left) and rw.is_bool_tensor(part.right)):
                return None  # the result would not be one of two booleans
            if not rw.may_always_run(part.right):
                return None
            sign = "&" if isinstance(part.operator, cst.And) else "|"
            sides = [
                rw.operand(side) if isinstance(side, cst.Call) else f"({rw.code(side)})"
                for side in (part.left, part.right)
            ]
            return rw.swap(node, part, f" {sign} ".join(sides))
    return None


@rule.example(
    lambda: (torch.ones(4),), lambda: (-torch.ones(4),), lambda: (torch.full((4,), torch.nan),)
)
def bad(x):
    calm = x.abs().max() < 10 and x.sum() > 0  # BRK104
    return x * calm


@rule.becomes
def good(x):
    calm = (x.abs().max() < 10) & (x.sum() > 0)
    return x * calm
