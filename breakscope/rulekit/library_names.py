"""Names of libraries that more than one file speaks of."""

from __future__ import annotations

OPTIMIZERS = frozenset(
    f"torch.optim.{name}"
    for name in (
        "SGD Adam AdamW Adamax Adadelta Adagrad ASGD LBFGS NAdam RAdam RMSprop Rprop SparseAdam Adafactor Muon"
    ).split()
)
# decorators that make an object in C of a function
NUMBA = frozenset(f"numba.{name}" for name in "jit njit vectorize guvectorize stencil".split())
