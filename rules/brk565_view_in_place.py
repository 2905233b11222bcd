"""Changing the view that an input is in place ends the graph.

`x.unsqueeze_(0)`, `x.squeeze_()`, `x.t_()`, `x.transpose_(0, 1)`, `x.swapaxes_(0, 1)`,
`x.as_strided_(...)` and `x.detach_()` change what a tensor is, not what it holds. For an input of the
graph, a buffer, or a tensor in an attribute, Dynamo would have to do that to the caller's object, and
it ends the graph. A tensor that the region itself made may be changed so, until another break: it is an input of what follows.

Give the name to the view that the form without `_` returns: `x = x.unsqueeze(0)`. It costs no memory.
The caller's tensor then keeps its shape; where the caller needs the new one, return it.
"""

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule("BRK565", "view-in-place", dynamo=("GB0148: inplace view",))

CHANGES = tuple(
    """
    Tensor.as_strided_ Tensor.detach_ Tensor.squeeze_ Tensor.swapaxes_ Tensor.swapdims_ Tensor.t_
    Tensor.transpose_ Tensor.unsqueeze_
    """.split()
)


@rule.on(Call, CHANGES)
def check(event):
    tensor = event.receiver
    if not tensor.is_tensor:
        return
    is_made = tensor.is_computed and not tensor.kind  # by the region
    method = event.name.removeprefix("Tensor.")
    done = "detaches" if method == "detach_" else "changes the shape of"
    yield event.graph_break(
        f"`{event.shown}` {done} a tensor from outside the region in place",
        help=f"give the name to the tensor that `{method.removesuffix('_')}` returns",
        # who calls the function may hand it what the region made
        certainty="likely" if tensor.is_argument else "certain",
        of_input=tensor if is_made else None,
    )


@rule.example(lambda: (torch.ones(3, 4),), dynamo=("GB0148",), equal=False)
def bad(x):
    x.unsqueeze_(0)  # BRK565
    return x + 1


@rule.becomes
def good(x):
    x = x.unsqueeze(0)
    return x + 1


@rule.example(lambda: (torch.ones(3, 4),), dynamo=("GB0148",), module=True)
def bad_of_a_buffer():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("table", torch.ones(4, 3))

        def forward(self, x):
            self.table.t_()  # BRK565
            return x.sin()

    return Net()
