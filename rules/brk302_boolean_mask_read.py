"""`x[mask]` with a boolean mask gives a result whose size depends on data, and the graph ends.

Indexing by a boolean tensor is `nonzero` and a gather: the number of rows is only known afterwards.
Dynamo ends the graph before it (GB0036) and compiles the rest for the size that came out. Storing a
constant or a 0-d tensor through a mask (`x[mask] = 0`) has no such size and is traced; reading and
updating are not (BRK303).

A list of truths is such a mask, too: `x[[True, False]]`; `x[[0]]` is traced.

Keep all elements and the mask: `torch.where(mask, x, 0).sum()`, that divided by `mask.sum()` for a
mean, `x.masked_fill(~mask, -inf)` before `max` or `softmax`; losses take `reduction="none"` and are
masked after, or an `ignore_index`. What `y[mask] = x[mask]` stores is
`y.copy_(torch.where(mask, x, y))`, with `mask.unsqueeze(-1)` where it chooses rows. `x[mask]` handed
on to code that needs exactly those rows belongs outside the compiled function.

The rewrite covers `.sum()` of a mask that is a comparison of the very same tensor with a number, and
`y[mask] = x[mask]` where the mask has as many dimensions as `x`, so that shapes are known to agree. It
keeps values and gradients, also where nothing is chosen and where NaN stands outside of the mask. It
counts as unsafe because sums are added in another order and may round differently in the last digit,
and since a store from another dtype raises, which `copy_` converts instead. For a mean in float16 mind
that the sum may overflow where the mean does not.
"""

import torch

from breakscope.rulekit.events import Index
from breakscope.rulekit.rule import Rule

rule = Rule("BRK302", "boolean-mask-read", shares=("GB0036",), fix="unsafe")


@rule.on(Index, store="")
def check(event):
    index = event.index
    if getattr(index, "dtype", None) == "bool" and index.ndim != 0 and not index.has_known_value:
        is_listed = index.origin == "listed"
        yield event.graph_break(
            f"the size of `{event.source}` depends on the mask's values",
            setting="capture_dynamic_output_shape_ops",
            help="index by positions, which are traced: `x[[i for i, keep in enumerate(chosen) if keep]]`"
            if is_listed
            else "keep all rows: `torch.where(mask, x, 0).sum()`, `y.copy_(torch.where(mask, x, y))` or "
            '`reduction="none"`',
            fixable=not is_listed,
            whole=event.index.ndim is not None and event.index.ndim == event.container.ndim,
        )


@rule.rewrite
def rewrite(node, problem):
    import libcst as cst

    from breakscope.rulekit import rewriting as rw

    found = rw.find_in_line(node, problem)
    if (
        not isinstance(found, cst.Subscript)
        or len(found.slice) != 1
        or not isinstance(found.slice[0].slice, cst.Index)
    ):
        return None
    if problem.whole and (stored := _stored(node, found)) is not None:
        return stored
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


def _stored(line, found):
    """`y.copy_(torch.where(mask, x, y))` for a line that is `y[mask] = x[mask]`."""
    import libcst as cst

    from breakscope.rulekit import rewriting as rw

    store = line.body[0] if len(line.body) == 1 else None
    if not isinstance(store, cst.Assign) or store.value is not found or len(store.targets) != 1:
        return None
    place, plain = store.targets[0].target, (cst.Name, cst.Attribute)
    if not isinstance(place, cst.Subscript) or not isinstance(place.value, plain):
        return None
    mask = found.slice[0].slice.value
    same = [rw.code(part) for part in place.slice] == [rw.code(part) for part in found.slice]
    if not same or not isinstance(found.value, plain) or not isinstance(mask, plain):
        return None
    into, value = rw.code(place.value), rw.code(found.value)
    text = f"{into}.copy_(torch.where({rw.code(mask)}, {value}, {into}))"
    return line.with_changes(body=[cst.Expr(cst.parse_expression(text))])


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


@rule.example(lambda: (torch.ones(3, 2),))
def bad_listed(x):
    kinds = ["rows", "columns", "rows"]
    return x.cos()[[kind == "rows" for kind in kinds]]  # BRK302


@rule.example(
    lambda: (torch.tensor([[1.0, -2.0], [torch.nan, 3.0]]), torch.ones(2, 2)),
    lambda: (torch.ones(2, 2), torch.tensor([[torch.inf, 0.0], [-1.0, torch.nan]])),
    lambda: (-torch.ones(0, 3), torch.ones(0, 3)),
)
def bad_stored(x, y):
    x, y = x.flatten() * 2, y.flatten() * 3
    far = y > x
    y[far] = x[far]  # BRK302
    return y.cos()


@rule.becomes
def good_stored(x, y):
    x, y = x.flatten() * 2, y.flatten() * 3
    far = y > x
    y.copy_(torch.where(far, x, y))
    return y.cos()
