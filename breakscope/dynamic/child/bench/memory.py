"""Peak memory since a mark: what the allocator held on a GPU, what was resident on the CPU (Linux)."""

from __future__ import annotations

from pathlib import Path

import torch

RESET_PEAK = "5"  # proc(5): the peak resident size becomes the current one


def start(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
        return
    try:
        Path("/proc/self/clear_refs").write_text(RESET_PEAK)
    except OSError:
        pass


def peak(device: torch.device) -> int | None:
    """Bytes; None where the system does not count them."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device)
    try:
        text = Path("/proc/self/status").read_text(encoding="ascii")
        return next(
            (
                int(line.split()[1]) * 1024
                for line in text.splitlines()
                if line.startswith("VmHWM:")
            ),
            None,
        )
    except (OSError, ValueError):
        return None
