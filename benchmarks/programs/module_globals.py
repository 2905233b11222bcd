"""A global that a loop changes: each value is a version.

cured: breaks 0, recompiles 0
"""

import sys

import torch

CURED = "--cured" in sys.argv
TEMPERATURE = torch.tensor(1.0) if CURED else 1


@torch.compile(backend="eager")
def sample(logits):
    return (logits / TEMPERATURE).softmax(-1)  # want: recompile global x3 "TEMPERATURE"


for value in (1, 2, 3, 4):
    if CURED:
        TEMPERATURE.fill_(value)
    else:
        TEMPERATURE = value
    sample(torch.randn(4, 8))
