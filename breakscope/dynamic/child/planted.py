"""The self-test: one break that is known, so that silence elsewhere means clean and not deaf."""

from __future__ import annotations


def see_planted_break() -> None:
    """Compile and call a function that breaks on its second line; the reader must find that in the trace."""
    import torch

    def planted(x):
        y = x + 1
        torch._dynamo.graph_break()
        return y * 2

    torch.compile(planted, backend="eager")(torch.ones(2))
