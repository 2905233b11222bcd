"""breakscope: where torch.compile breaks or recompiles, why, what it costs, and how it is fixed.

`with breakscope.watch() as report: step()` watches a block of this process,
`breakscope.as_text(report)` shows what it saw. Importing breakscope imports nothing else; neither
does it import torch.
"""

__version__ = "0.1.0"
__all__ = ["as_text", "watch"]


def __getattr__(name: str):
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from breakscope.workflows import watch

    return getattr(watch, name)
