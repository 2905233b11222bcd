"""`x[mask] += 1` reads through the mask before it stores, and the graph ends.

An augmented assignment is a read, an addition and a store: the read gives a tensor whose size
depends on data, so Dynamo ends the graph (GB0036), where the plain store `x[mask] = 0` is traced
whole. `x[mask].mul_(2)` breaks as well, and besides changes only a copy.

Write `torch.where(mask, x + 1, x)`, with `x.copy_(...)` around it where others hold the same
tensor, or add a masked amount: `x += mask * amount` where the amount is finite.

The rewrite covers a constant amount and a mask that compares the very same tensor with a number, so
that shapes agree and values, aliases and gradients stay as they were. A division by zero is left
alone: the side that is not chosen would bring NaN into the gradient. It counts as unsafe because an
amount that does not fit the dtype (`ints[mask] += 0.5`) raises, and `copy_` converts it instead.
"""

import torch

from breakscope.rulekit.events import Index
from breakscope.rulekit.rule import Rule

rule = Rule("BRK303", "boolean-mask-update", shares=("GB0036",), fix="unsafe")


@rule.on(Index)
def check(event):
    if (
        event.store not in ("", "=")
        and getattr(event.index, "dtype", None) == "bool"
        and event.index.ndim != 0
    ):
        yield event.graph_break(
            f"`{event.source}` reads through a boolean mask before it stores",
            help="write `x.copy_(torch.where(mask, x + amount, x))`, or `x = torch.where(...)` where nothing else "
            "holds it",
        )


@rule.rewrite
def rewrite(node, problem):
    import libcst as cst

    from breakscope.rulekit import rewriting as rw

    update = rw.single(node)
    if not isinstance(update, cst.AugAssign) or not isinstance(update.target, cst.Subscript):
        return None
    sign, amount, place = (
        rw.code(update.operator).strip().removesuffix("="),
        update.value,
        update.target,
    )
    if sign not in ("+", "-", "*", "/") or not isinstance(amount, (cst.Integer, cst.Float)):
        return None
    if (
        (sign == "/" and not float(amount.value))
        or len(place.slice) != 1
        or not isinstance(place.slice[0].slice, cst.Index)
    ):
        return None
    mask, whole = place.slice[0].slice.value, rw.code(place.value)
    if not rw.is_comparison(mask) or rw.code(mask.left) != whole:
        return None
    if not isinstance(mask.comparisons[0].comparator, (cst.Integer, cst.Float)):
        return None
    text = f"{whole}.copy_(torch.where({rw.code(mask)}, {whole} {sign} {rw.code(amount)}, {whole}))"
    return node.with_changes(body=[cst.Expr(cst.parse_expression(text))])


@rule.example(
    lambda: (torch.tensor([1.0, -2.0]),),
    lambda: (torch.tensor([torch.nan, torch.inf]),),
    lambda: (torch.empty(0),),
)
def bad(x):
    y = x * 3
    y[y > 0] += 1  # BRK303
    return y.cos()


@rule.becomes
def good(x):
    y = x * 3
    y.copy_(torch.where(y > 0, y + 1, y))
    return y.cos()
