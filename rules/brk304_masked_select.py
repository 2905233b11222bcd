"""`masked_select` gives a result whose size depends on data, and the graph ends.

It is `x[mask]` with broadcasting: the number of elements is only known after it ran (GB0036, from
2.6 to 2.15).

Keep all elements: `torch.where(mask, x, 0).sum()` for a sum, that divided by the number of chosen
elements for a mean, `x.masked_fill(~mask, -inf)` before `max`, `softmax` or `topk`,
`masked_scatter` or `torch.where` to write back.

The rewrite covers `.sum()`: `torch.where` broadcasts as `masked_select` does, and keeps values and
gradients for every input, empty choices and NaN outside of the mask included. It counts as unsafe
because sums are added in another order and may round differently in the last digit.
"""

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule("BRK304", "masked-select", dynamo=(r"GB0036: aten\.masked_select",), fix="unsafe")


@rule.on(Call, "torch.masked_select", "Tensor.masked_select")
def check(event):
    yield event.graph_break(
        f"the size of `{event.source}` depends on the mask's values",
        help="keep all elements and mask: `torch.where(mask, x, 0).sum()`, or `masked_fill` before a maximum or "
        "softmax",
        setting="capture_dynamic_output_shape_ops",
    )


@rule.rewrite
def rewrite(node, problem):
    import libcst as cst

    from breakscope.rulekit import rewriting as rw

    found = rw.find_in_line(node, problem)
    given = rw.arguments(found) if isinstance(found, cst.Call) else None
    if given is None or given[1]:
        return None
    values = [rw.code(value) for value in given[0]]
    if rw.dotted(found.func) != "torch.masked_select":
        if not isinstance(found.func, cst.Attribute):
            return None
        values.insert(0, rw.code(found.func.value))
    for call in rw.walk(node):
        if (
            isinstance(call, cst.Call)
            and isinstance(call.func, cst.Attribute)
            and call.func.value is found
            and not call.args
        ):
            if call.func.attr.value == "sum" and len(values) == 2:
                return rw.swap(node, call, f"torch.where({values[1]}, {values[0]}, 0).sum()")
    return None


@rule.example(
    lambda: (torch.tensor([1.0, -2.0, 3.0]),),
    lambda: (torch.tensor([torch.nan, 1.0, 2.0]),),
    lambda: (-torch.ones(3),),
    lambda: (torch.empty(0),),
)
def bad(x):
    total = torch.masked_select(x * 2, x > 0).sum()  # BRK304
    return x - total  # centred


@rule.becomes
def good(x):
    total = torch.where(x > 0, x * 2, 0).sum()
    return x - total  # centred
