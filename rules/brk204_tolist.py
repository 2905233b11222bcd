"""`.tolist()` reads every element into Python, and the graph ends.

The whole tensor is copied to the host, and a list of Python numbers goes on: each number may become
a guard, so a second batch with other lengths compiles again. Dynamo reports GB0033 for integers and
GB0109 for floats.

The usual reason is a list of lengths: for `x.split(lengths.tolist())`, for slicing rows, for a
loop. Pass the lengths as a Python list from the data loader, where they are known anyway; or keep
the padded tensor and mask with `torch.arange(n) < lengths[:, None]`. To walk over the elements
write `for v in t.unbind()`, which is traced. The setting `capture_scalar_outputs` keeps a list of
whole numbers in the graph, and no other. A list of values for the log should be made outside the
compiled function.

The masked form keeps gradients (zero for masked places); `.tolist()` cuts them.
"""

import torch

from breakscope.knowledge import since
from breakscope.rulekit.events import ScalarRead
from breakscope.rulekit.rule import Rule

rule = Rule("BRK204", "tensor-tolist", dynamo=("GB0109",), shares=("GB0033",))


@rule.on(ScalarRead, how="tolist")
def check(event):
    value = event.value
    if value.ndim == 0 and value.dtype == "int" and not value.is_computed and since("2.13"):
        return  # an argument or a buffer of one integer is taken as a symbolic number
    yield event.graph_break(
        f"`{event.source}` copies a tensor's values into a Python list",
        help="pass the lengths as a Python list, mask with `torch.arange(n) < lengths[:, None]`, or loop over "
        "`t.unbind()`",
        setting="capture_scalar_outputs" if event.value.dtype in ("int", None) else "",
        dtype=event.value.dtype or "",
    )


@rule.example(
    lambda: (torch.ones(4, 2), torch.tensor([1, 3])),
    lambda: (torch.ones(4, 2), torch.tensor([2, 2])),
    dynamo=("GB0033",),
)
def bad(x, lengths):
    first, second = x.cos().split(lengths.tolist())  # BRK204
    return first.sum() - second.sum()


@rule.becomes
def good(x, lengths):
    x = x.cos()
    is_first = torch.arange(x.shape[0]) < lengths[0]
    rows = x.sum(1)
    return torch.where(is_first, rows, 0).sum() - torch.where(is_first, 0, rows).sum()


@rule.example(lambda: (torch.tensor([0.5, 2.0]),), dynamo=("GB0109",))
def bad_floats(x):
    total = 0.0
    for value in (x * 2).tolist():  # BRK204
        total = total + value
    return x - total


@rule.becomes
def good_floats(x):
    total = 0.0
    for value in (x * 2).unbind():
        total = total + value
    return x - total
