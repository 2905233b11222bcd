"""Dynamo skips a whole function for a tensor as the bound of a slice.

`x[:n]` with a tensor `n` must give a tensor whose size depends on data. torch 2.13 cannot resume in
the middle of a slice: the function runs in eager mode from its first line (GB0124; GB0038 up to
2.9). That holds for reads, stores and slices of lists, and for a bound such as `lengths[i]` inside
a loop over rows. Indexing by a tensor (`x[n]`) is fine.

Keep the full size and mask: `torch.arange(x.shape[0]) < n` says which rows count. A mean over the
slice is the masked sum divided by `n`; a store is `torch.where(mask, value, x)`; attention takes
the mask as it is. If the caller knows the length, let it pass a Python int: each new length then
compiles once, and from the second on with a dynamic size.

Where the bound comes from a loop over a tensor that the file makes of a list, the rewrite gives the
loop's function the list (see BRK208).

Masked rows get a gradient of zero, as the rows outside of the slice did, provided that
`torch.where` and not a product removes them: NaN times zero is NaN.
"""

import ast

import torch

from breakscope.knowledge import since
from breakscope.rulekit.events import ScalarRead
from breakscope.rulekit.rule import Rule

rule = Rule(
    "BRK206",
    "slice-bound-from-tensor",
    dynamo=("GB0038",),
    shares=("GB0124", "GB0033"),
    unshown=("GB0038",),
    fix="unsafe",
)


@rule.on(ScalarRead, how="slice")
def check(event):
    if isinstance(event.node, ast.Subscript):
        yield event.problem(
            f"a bound of the slice `{event.expression}` is a tensor, so the result's size depends on data and the "
            "whole function is skipped",
            help="make the slice of Python ints, before the region, or keep the full size and mask",
            skips="call",
            setting="capture_scalar_outputs",
        )
        return
    if isinstance(event.node, ast.Call):
        yield event.graph_break(
            f"`slice` reads the tensor `{event.expression}` for a bound",
            help="make the slice of Python ints, or keep the full size and mask",
            setting="capture_scalar_outputs",
        )
        return
    yield event.problem(
        f"the slice bound `{event.expression}` is a tensor, so the result's size depends on data and the whole "
        "function is skipped",
        help=f"keep the full size and mask with `torch.arange(size) < {event.expression}`, or pass the bound as a "
        "Python int",
        skips="call",
        setting="capture_scalar_outputs",
    )


@rule.rewrite
def rewrite(node, problem, place):
    if isinstance(problem.node, ast.Subscript):
        return None  # the bound stands elsewhere
    from breakscope.rulekit.rewrites.leaf import as_leaf
    from breakscope.rulekit.rewrites.same_list import from_the_list

    return from_the_list(problem, place) or (as_leaf(problem, place) if since("2.13") else None)


@rule.example(
    lambda: (torch.ones(4, 2), torch.tensor(2)),
    lambda: (torch.ones(4, 2), torch.tensor(0)),
    dynamo=("GB0124",),
    fixed=False,
)
def bad(x, n):
    return x[:n].sum(0)  # BRK206


@rule.becomes
def good(x, n):
    inside = torch.arange(x.shape[0]) < n
    return torch.where(inside[:, None], x, 0).sum(0)
