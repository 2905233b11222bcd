"""`not tensor` reads the tensor's value, and Dynamo skips the whole function.

`not` returns a Python bool, so it cannot stay in the graph. Where an `if` or `while` tests it, the
frame breaks and resumes (GB0170); where the result is used as a value, torch 2.13 cannot resume at
all: the function is skipped as a whole (GB0033), which costs far more than one
break.

Write `torch.logical_not(t)`, or `~t` when the tensor is boolean. Both stay in the graph. The result
is then a boolean tensor and not a Python bool: arithmetic with it gives the same numbers, `is True`
and JSON do not. A tensor of several elements, which `not` refuses, is accepted and inverted element
by element. Bool results carry no gradient either way.
"""

import torch

from breakscope.rulekit.events import Branch
from breakscope.rulekit.rule import Rule

rule = Rule("BRK105", "not-on-tensor", shares=("GB0033", "GB0170"), fix="unsafe")


@rule.on(Branch, construct="not")
def check(event):
    if event.test.is_tensor:
        yield event.graph_break(
            f"`{event.written}` reads a tensor's value",
            help=f"write `torch.logical_not({event.source})`, or `~` on a boolean tensor",
        )


@rule.rewrite
def rewrite(node, problem):
    import libcst as cst

    from breakscope.rulekit import rewriting as rw

    if not isinstance(node, cst.SimpleStatementLine):
        return None
    for part in rw.walk(node):
        if isinstance(part, cst.UnaryOperation) and isinstance(part.operator, cst.Not):
            if rw.same(part.expression, problem.node) or rw.same(part, problem.node):
                return rw.swap(node, part, f"torch.logical_not({rw.code(part.expression)})")
    return None


@rule.example(lambda: (torch.ones(4),), lambda: (torch.full((4,), torch.inf),), dynamo=("GB0033",))
def bad(x):
    broken = not torch.isfinite(x).all()  # BRK105
    return x.cos() * broken


@rule.becomes
def good(x):
    broken = torch.logical_not(torch.isfinite(x).all())
    return x.cos() * broken
