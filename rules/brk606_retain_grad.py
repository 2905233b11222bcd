"""`retain_grad()` ends the graph.

It makes autograd keep the gradient of an intermediate tensor, which inside a compiled graph
exists only within the fused backward kernels.

Keep the gradient with a hook, which is traced: `y.register_hook(self.save)`; or return the
intermediate tensor from the region and call `retain_grad()` on it outside.
"""

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule("BRK606", "retain-grad", dynamo=("GB0108",))


@rule.on(Call, "Tensor.retain_grad")
def check(event):
    yield event.graph_break(
        f"`{event.shown}` keeps a gradient that the compiled graph does not have",
        help="use `register_hook` on the tensor, or return it and call `retain_grad()` outside",
        skips="call",
    )


@rule.example(lambda: (torch.ones(4, requires_grad=True),))
def bad(x):
    y = x * 2
    y.retain_grad()  # BRK606
    return y.sin()


@rule.becomes
def good(x):
    y = x * 2
    y.register_hook(torch.neg)
    return y.sin()
