"""breakscope: where torch.compile breaks or recompiles, why, what it costs, and how it is fixed."""

__version__ = "0.1.0"
