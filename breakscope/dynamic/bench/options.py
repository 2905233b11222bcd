"""The options of a benchmark, and what its modes mean."""

from __future__ import annotations

from dataclasses import dataclass

EAGER, DEFAULT, REDUCE, TUNE, DYNAMIC = (
    "eager",
    "default",
    "reduce-overhead",
    "max-autotune",
    "dynamic",
)
# those that compile, in the order in which they are prepared
MODES = (DEFAULT, DYNAMIC, REDUCE, TUNE)
OF_INDUCTOR = (REDUCE, TUNE)


@dataclass(frozen=True, kw_only=True)
class BenchOptions:
    """One target and the modes to measure; eager always takes part.

    `calls` names a function in the file that returns argument tuples; the steps go through them in
    turn. `rounds` is the number of turns that each mode gets. `timeout` is in seconds for
    everything, `mode_timeout` for the compiling and warming up of each mode (None: an equal share
    of the time that is left). `device` None means CUDA when there is one.
    """

    file: str
    name: str
    modes: tuple[str, ...] = (DEFAULT,)
    calls: str = ""
    backend: str = "inductor"
    device: str | None = None
    backward: bool = True
    rounds: int = 20
    timeout: float = 600.0
    mode_timeout: float | None = None
    coverage: bool = True  # which share of op time lies inside graphs
    estimate: bool = True  # what a step without breaks would take
    # a folder for inductor's caches, kept between measurements; then compile times prove nothing
    caches: str = ""

    @property
    def target(self) -> str:
        return f"{self.file}::{self.name}"


def meaning(mode: str, backend: str, on_gpu: bool) -> str:
    """What a mode does on this device, in a few words."""
    if mode == EAGER:
        return "without torch.compile"
    if mode == DYNAMIC:
        return "dynamic=True: sizes are symbols from the first compile on"
    if mode == REDUCE:
        return (
            "CUDA graphs replay the launches of a step"
            if on_gpu
            else "CUDA graphs; on the CPU there are none, so this compiles what default does"
        )
    if mode == TUNE:
        return (
            "tries kernels and tile sizes, with CUDA graphs"
            if on_gpu
            else "on the CPU: tries C++ templates for matrix products; there are no CUDA graphs"
        )
    return f"torch.compile(backend={backend!r})" if backend != "inductor" else "torch.compile()"
