"""A custom operator with a fake implementation, and one that calls `.item()` on what it returns: the first is part
of the graph, the read of the value ends it.

cured: breaks 0, recompiles 0
"""

import sys

import torch

CURED = "--cured" in sys.argv
if CURED:
    torch._dynamo.config.capture_scalar_outputs = True


@torch.library.custom_op("programs::clipped", mutates_args=())
def clipped(x: torch.Tensor, most: float) -> torch.Tensor:
    return x.clamp(max=most)


@clipped.register_fake
def _(x, most):
    return torch.empty_like(x)


@torch.compile(backend="eager")
def step(x):
    y = clipped(x, 1.0)
    top = y.max().item()  # want: break GB0124
    return y * 2 + top


for _ in range(3):
    step(torch.randn(4, 8))
