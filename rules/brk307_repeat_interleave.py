"""`repeat_interleave` with tensor repeats gives a size that depends on data, and the graph ends.

The length is the sum of the repeats, which Dynamo would have to read (GB0036). An int for the
repeats is free, and so is a tensor of repeats together with `output_size=`.

Pass `output_size=` where the total is known to Python: the packed length of a batch, for example,
is the length of the tensor that the result will be joined with. It also spares the synchronisation
in eager mode. A wrong `output_size` is undefined behaviour and not an error on every device, so
compute it from a shape, not by hope. To repeat every row equally often, pass the int. Values and
gradients are the same with and without it.
"""

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule
from breakscope.rulekit.values import NONE

rule = Rule("BRK307", "repeat-interleave", dynamo=(r"GB0036: aten\.repeat_interleave",))


@rule.on(Call, "torch.repeat_interleave", "Tensor.repeat_interleave")
def check(event):
    if not event.kwargs.get("output_size", NONE).is_none:
        return
    method = event.name.startswith("Tensor.")
    repeats = event.argument(0 if method else 1, "repeats")
    alone = repeats is None and not method
    if alone or (repeats is not None and repeats.is_tensor):
        yield event.graph_break(
            f"the size of `{event.source}` is the sum of a tensor's values",
            help="pass `output_size=` with the total that Python knows, or an int for the repeats",
            setting="capture_dynamic_output_shape_ops",
        )


@rule.example(
    lambda: (torch.tensor([1.0, 2.0]), torch.tensor([1, 3])),
    lambda: (torch.tensor([1.0, torch.nan]), torch.tensor([4, 0])),
)
def bad(x, counts):
    rows = x.cos().repeat_interleave(counts)  # BRK307
    return rows + torch.arange(4)


@rule.becomes
def good(x, counts):
    rows = x.cos().repeat_interleave(counts, output_size=4)
    return rows + torch.arange(4)
