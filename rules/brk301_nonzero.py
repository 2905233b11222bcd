"""`nonzero`, `argwhere` and one-argument `where` have data-dependent sizes, and the graph ends.

How many rows come back is only known after the operator ran. Dynamo ends the graph before it
(GB0036), runs it in eager mode with a device synchronisation, and compiles what follows, for each
new count at first and then with a dynamic size.

Most code that computes indices wants a mask: `torch.where(mask, a, b)` with three arguments,
`masked_fill`, a product, `mask.sum()` for the count, `mask.int().argmax()` for the first hit. When
indices are needed and a bound is known, `torch.nonzero_static(t, size=n)` has a fixed size and
stays in the graph (padded with `fill_value`, -1).
`torch._dynamo.config.capture_dynamic_output_shape_ops = True` keeps the operator in the graph
instead; what follows must then work with an unknown size.

A masked formula keeps all rows: divide by `mask.sum()` and not by the length, and clean NaN with
`torch.where` before an operation whose gradient would carry it.

A function of tensors alone that goes by such indices in Python can stay in the graph as one call that
runs as it is: `torch._dynamo.decorators.leaf_function`. The rewrite does that where the lines that make
the shape of the result do not depend on the indices, and puts those in the function for fake tensors.
"""

import torch

from breakscope.knowledge import since
from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule("BRK301", "nonzero", dynamo=(r"GB0036: aten\.nonzero",), fix="unsafe")

NAMES = frozenset(
    """
    torch.nonzero Tensor.nonzero torch.argwhere Tensor.argwhere torch.where numpy.nonzero
    torch.ops.aten.nonzero.default numpy.argwhere numpy.flatnonzero numpy.ndarray.nonzero
    numpy.where torch.ops.aten.nonzero
    """.split()
)


@rule.on(Call, NAMES)
def check(event):
    if event.name in ("torch.where", "numpy.where") and (len(event.args) + len(event.kwargs) != 1):
        return
    tensor = event.argument(0, "input") if event.receiver is None else event.receiver
    if getattr(tensor, "has_known_value", False):
        return  # made of one number of Python's, which torch knows
    yield event.graph_break(
        f"the size of `{event.source}` depends on the tensor's values",
        help="work with the mask itself (`torch.where(mask, a, b)`, `mask.sum()`), or `torch.nonzero_static(t, "
        "size=n)`",
        setting="capture_dynamic_output_shape_ops",
    )


@rule.rewrite
def rewrite(node, problem, place):
    from breakscope.rulekit.rewrites.chosen_rows import without_test_behind
    from breakscope.rulekit.rewrites.leaf import as_leaf

    if (made := without_test_behind(place)) is not None:
        return made
    return as_leaf(problem, place) if since("2.13") else None


@rule.example(
    lambda: (torch.tensor([1.0, -2.0, 3.0]),),
    lambda: (torch.full((3,), torch.nan),),
    lambda: (torch.empty(0),),
    fixed=False,
)
def bad(x):
    hits = torch.nonzero(x > 0)  # BRK301
    return x - hits.shape[0]


@rule.becomes
def good(x):
    return x - (x > 0).sum()


@rule.example(
    lambda: (torch.tensor([1.0, -2.0, 3.0]),), lambda: (torch.full((3,), -1.0),), fixed=False
)
def bad_where(x):
    (rows,) = torch.where(x > 0)  # BRK301
    return x[rows].sum()  # no mask here: `rows` holds integers


@rule.becomes
def good_where(x):
    return torch.where(x > 0, x, 0).sum()
