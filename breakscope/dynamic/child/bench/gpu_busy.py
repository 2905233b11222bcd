"""How long a step keeps the GPU busy: what of a step's time is left over is spent waiting for the
CPU."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch
from torch.autograd import DeviceType
from torch.profiler import ProfilerActivity, profile

from breakscope import limits


def busy_seconds(step: Callable[[], object], turn: int, device: torch.device) -> float | None:
    """Seconds per step in which a kernel or a copy runs; None without a GPU, or where the profiler
    sees nothing on it.

    The profiler slows down the CPU but hardly the kernels, so this is to be held against steps
    without it.
    """
    if device.type != "cuda":
        return None
    steps = turn * limits.BUSY_TURNS
    with profile(activities=[ProfilerActivity.CUDA]) as seen:
        for _ in range(steps):
            step()
        torch.cuda.synchronize(device)
    spans = [
        (event.time_range.start, event.time_range.end)
        for event in seen.events()
        if event.device_type == DeviceType.CUDA and not getattr(event, "is_user_annotation", False)
    ]
    return covered(spans) / 1e6 / steps if spans else None


def covered(spans: Iterable[tuple[float, float]]) -> float:
    """The length of the union of spans: kernels on several streams run at once."""
    total, until = 0.0, float("-inf")
    for start, end in sorted(spans):
        total += max(0.0, end - max(start, until))
        until = max(until, end)
    return total
