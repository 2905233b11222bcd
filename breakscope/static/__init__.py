"""The static analyzer: predicts breaks and recompiles from source, without importing or running it."""

from breakscope.static.analyze import StaticOptions, StaticResult, analyze

__all__ = ["StaticOptions", "StaticResult", "analyze"]
