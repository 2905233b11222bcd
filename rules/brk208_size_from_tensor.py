"""A size computed from a tensor's values ends the graph.

`torch.zeros(2, lengths.max())`, `x.view(n.max(), -1)`, `torch.arange(lengths.max())`, `x.topk(k_tensor * 2)` all need a
Python number: torch converts the 0-d tensor silently, Dynamo reports GB0033 on `aten._local_scalar_dense` and stops.
A 0-d tensor that is itself an argument or a buffer is accepted as a size without a break on 2.13; anything
computed from a tensor is not.

Use a size that Python knows: `x.shape`, a maximum fixed in `__init__`, or the padded length from the data loader
passed as an int. `torch.arange(x.shape[1]) < lengths[:, None]` replaces most buffers sized by `lengths.max()`.

The padded result has more columns than the trimmed one; mask what follows. `torch._dynamo.config.
capture_scalar_outputs = True` is the other way out, at the price of dynamic sizes downstream.
"""

import torch

from breakscope.events import ScalarRead
from breakscope.rule import Rule

rule = Rule("BRK208", "size-from-tensor", shares=("GB0033",))


@rule.on(ScalarRead, how="size")
def check(event):
    if getattr(event.value, "origin", "op") == "op":
        yield event.problem(
            f"the size `{event.expression}` is read from a tensor, so the graph ends here",
            help="use a size that Python knows (`x.shape`, a fixed maximum, an int argument) and mask the rest",
        )


@rule.example(lambda: (torch.tensor([1, 2, 4]),), lambda: (torch.tensor([4, 0]),))
def bad(lengths):
    steps = torch.arange(lengths.max())  # BRK208
    return (steps < lengths[:, None]).sum(1) / 4


@rule.becomes
def good(lengths):
    steps = torch.arange(4)
    return (steps < lengths[:, None]).sum(1) / 4
