"""Evaluation in another precision and without gradients: one call differs in two ways, and each would compile by
itself.

cured: breaks 0, recompiles 0
"""

import sys

import torch

CURED = "--cured" in sys.argv


@torch.compile(backend="eager")  # want: recompile grad_mode x1 also dtype
def normalise(x):
    return (x - x.mean()) / x.std()


for _ in range(2):
    normalise(torch.randn(4, 8))
with torch.no_grad() if not CURED else torch.enable_grad():
    for _ in range(2):
        x = torch.randn(4, 8, dtype=torch.float64)
        normalise(x.float() if CURED else x)
