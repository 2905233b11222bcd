"""Indexing a tensor by a computed 0-d tensor reads it, and the graph ends.

`x[scores.argmax()]`, `x[ids[0]]`, and `x[i]` in `for i in ids:` look like tensor work. But torch
turns a 0-d integer index into a Python int before it selects, and Dynamo stops there (GB0033 on
`aten._local_scalar_dense`; in a loop the whole function is skipped). Measured on 2.13: a 0-d tensor
of int64 that is itself an argument or a buffer, or `torch.tensor(0)`, passes, one of int32 that is given breaks too. A 1-d
index always passes, a 0-d boolean breaks. A store `x[i] = v` follows the same rule.

Make the index 1-d, which is a gather: `x[i[None]][0]`, or `x.index_select(0, i)`, `x.take(i)`,
`x.gather(...)`. Better, index once with all of them: `x[ids]` in place of a loop over `ids`.

The rewrite covers `x[t]`, and `x[i, t]` where `i` counts a `range`. Values and gradients are the same;
the result is a copy and not a view, so an in-place change of it no longer reaches `x`: it declines
where it sees one.
"""

import ast

import torch

from breakscope.rulekit.events import Index
from breakscope.rulekit.rule import Rule
from breakscope.rulekit.values import Tensor

HELP = "make the index 1-d, `x[i[None]][0]` or `x.index_select(0, i)`, or index by the whole tensor at once"
HELP_OF_ANY = (
    "index by a Python int that is known outside; a tensor takes a 1-d index, `x[i[None]][0]`"
)
NARROW = "int32"  # for which Dynamo has no guard on the number
# by the reason alone it is one of several; by the code that Dynamo marks it is this one
rule = Rule(
    "BRK213",
    "index-by-scalar-tensor",
    dynamo=(r"GB0033: (?s)_local_scalar_dense.* at `\w[\w.]*(\[[^\]`]*\])+`",),
    shares=("GB0033",),
    fix="unsafe",
    seen="{} indexes by a 0-d tensor, which torch reads as a Python int",
    help=HELP,
)


@rule.on(Index)
def check(event):
    index = event.index
    if not isinstance(index, Tensor) or index.kind not in ("", "numpy", "subclass", NARROW):
        return
    if index.ndim != 0 and not (index.ndim is None and _is_one_of_the_indices(event)):
        return
    if (index.is_computed or index.kind == NARROW) and not index.has_known_value:
        is_tensor = event.container.origin != "guess"  # else it may be a list
        yield event.graph_break(
            f"`{event.source}` indexes by a 0-d tensor, which torch reads as a Python int",
            help=HELP if is_tensor else HELP_OF_ANY,
            certainty="certain" if index.ndim == 0 and is_tensor else "likely",
            reads=index if index.dtype == "int" and index.kind != NARROW else None,
            fixable=is_tensor,
        )


def _is_one_of_the_indices(event):
    """True for `x[order[i]]`, and for `x[i, order[i]]` and `x[i][order[i]]`, where nobody says how many dimensions
    `order` has: lists of indices mostly have one. A constant may as well name a row of them, as in `x[edges[0]]`."""
    inner = getattr(event.node, "slice", None)
    parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
    reads = [
        part.slice.id
        for part in parts
        if isinstance(part, ast.Subscript) and isinstance(part.slice, ast.Name)
    ]
    if len(reads) != 1 or event.index.dtype not in ("int", None):
        return False
    outer = getattr(event.node.value, "slice", None)
    beside = {part.id for part in (*parts, outer) if isinstance(part, ast.Name)}
    return reads[0] in beside or (event.index.dtype == "int" and inner is parts[0])


@rule.rewrite
def rewrite(node, problem, place):
    import libcst as cst

    from breakscope.rulekit.rewrites.gather import as_gather

    return as_gather(node, problem, place) if isinstance(node, cst.SimpleStatementLine) else None


@rule.example(lambda: (torch.tensor([1.0, 3.0, 2.0]),), lambda: (torch.tensor([torch.nan, 1.0]),))
def bad(scores):
    best = scores[scores.argmax()]  # BRK213
    return scores - best


@rule.becomes
def good(scores):
    best = scores[scores.argmax()[None]][0]
    return scores - best


@rule.example(lambda: (torch.ones(10, 4), torch.arange(12.0)))
def bad_narrow(table, numbers):
    at = torch.zeros((), dtype=torch.int32).add_(2)
    return table[at] * 2 + numbers.sum()  # BRK213


@rule.becomes
def good_narrow(table, numbers):
    at = torch.zeros((), dtype=torch.int32).add_(2)
    return table[at[None]][0] * 2 + numbers.sum()


@rule.example(
    lambda: (torch.arange(12.0).reshape(3, 4), torch.tensor([1, 4, 2])),
    lambda: (torch.ones(3, 4), torch.tensor([0, 1, 0])),
)
def bad_rows(x, lengths):
    last = [x[i, lengths[i] - 1] for i in range(3)]  # BRK213
    return torch.stack(last)


@rule.becomes
def good_rows(x, lengths):
    last = [x[i, (lengths[i] - 1)[None]][0] for i in range(3)]
    return torch.stack(last)
