"""`x[mask]` with a boolean mask gives a result whose size depends on data, and the graph ends.

Indexing by a boolean tensor is `nonzero` and a gather: the number of rows is only known afterwards.
Dynamo ends the graph before it (GB0036) and compiles the rest for the size that came out. Storing a
constant or a 0-d tensor through a mask (`x[mask] = 0`) has no such size and is traced; reading and
updating are not (BRK303).

Keep all elements and the mask: `torch.where(mask, x, 0).sum()`, that divided by `mask.sum()` for a
mean, `x.masked_fill(~mask, -inf)` before `max` or `softmax`; losses take `reduction="none"` and are
masked after, or an `ignore_index`. `x[mask]` handed on to code that needs exactly those rows
belongs outside the compiled function.

The rewrite covers `.sum()` of a mask that is a comparison of the very same tensor with a number, so
that shapes are known to agree. It keeps values and gradients, also where nothing is chosen and
where NaN stands outside of the mask. It counts as unsafe because sums are added in another order
and may round differently in the last digit. For a mean in float16 mind that the sum may overflow
where the mean does not.
"""

import torch

from breakscope.rulekit.events import Index
from breakscope.rulekit.rule import Rule

rule = Rule("BRK302", "boolean-mask-read", shares=("GB0036",), fix="unsafe")


@rule.on(Index, store="")
def check(event):
    if getattr(event.index, "dtype", None) == "bool" and event.index.ndim != 0:
        yield event.graph_break(
            f"the size of `{event.source}` depends on the mask's values",
            setting="capture_dynamic_output_shape_ops",
            help="keep all elements and mask: `torch.where(mask, x, 0).sum()`, `masked_fill`, or a loss with "
            '`reduction="none"`',
        )


@rule.rewrite
def rewrite(node, problem):
    import libcst as cst

    from breakscope.rulekit import rewriting as rw

    found = rw.find(node, problem) if isinstance(node, cst.SimpleStatementLine) else None
    if (
        not isinstance(found, cst.Subscript)
        or len(found.slice) != 1
        or not isinstance(found.slice[0].slice, cst.Index)
    ):
        return None
    mask, whole = found.slice[0].slice.value, rw.code(found.value)
    if not rw.is_comparison(mask) or rw.code(mask.left) != whole:
        return None
    if not isinstance(found.value, (cst.Name, cst.Attribute)) or not isinstance(
        mask.comparisons[0].comparator, (cst.Integer, cst.Float)
    ):
        return None
    for call in rw.walk(node):
        if (
            isinstance(call, cst.Call)
            and isinstance(call.func, cst.Attribute)
            and call.func.value is found
            and not call.args
        ):
            if call.func.attr.value == "sum":
                return rw.swap(node, call, f"torch.where({rw.code(mask)}, {whole}, 0).sum()")
    return None


@rule.example(
    lambda: (torch.tensor([1.0, -2.0, 3.0]),),
    lambda: (torch.tensor([torch.nan, 1.0, torch.inf]),),
    lambda: (-torch.ones(3),),
    lambda: (torch.empty(0),),
)
def bad(x):
    x = x * 2  # twice
    return 1 + x[x > 0].sum()  # BRK302


@rule.becomes
def good(x):
    x = x * 2  # twice
    return 1 + torch.where(x > 0, x, 0).sum()


@rule.example(lambda: (torch.ones(3, 2), torch.tensor([True, False, True])))
def bad_rows(x, keep):
    return x.cos()[keep]  # BRK302
