"""A clock is read again before the GPU has done what the calls between gave it to do.

Calls on a GPU return as soon as their kernels are queued. A time taken around them is that of
launching: of ten calls of a compiled stack of eight linear layers of 4096 on an H100 (torch 2.11)
it showed 0.21 ms each, where they took 2.72 ms.

Call `torch.cuda.synchronize()` before the clock starts and before it is read again, or use
`torch.cuda.Event`. Only spans that hold nothing but calls are flagged, in files that speak of a
GPU.
"""

import time

import torch

from breakscope.rulekit.rule import Rule
from breakscope.rulekit.usage import Timed

rule = Rule("BRK826", "timed-without-waiting", kind="usage", severity="warning")


@rule.on(Timed, what="launching")
def check(event):
    yield event.problem(
        f"this time ends when `{event.subject}` is launched, not when the GPU is done",
        help="call `torch.cuda.synchronize()` before the clock is read again",
    )


@rule.program(on="cuda", shows={"returns": "too short"}, instead={"returns": "all of it"})
def bad():
    model = torch.compile(
        torch.nn.Sequential(*(torch.nn.Linear(4096, 4096) for _ in range(8))).to("cuda")
    )
    x = torch.randn(4096, 4096, device="cuda")
    model(x)
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(10):
        model(x)
    measured = time.perf_counter() - start  # BRK826
    torch.cuda.synchronize()
    return "too short" if measured < (time.perf_counter() - start) / 2 else "all of it"


@rule.becomes
def good():
    model = torch.compile(
        torch.nn.Sequential(*(torch.nn.Linear(4096, 4096) for _ in range(8))).to("cuda")
    )
    x = torch.randn(4096, 4096, device="cuda")
    model(x)
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(10):
        model(x)
    torch.cuda.synchronize()
    measured = time.perf_counter() - start
    return "too short" if measured < (time.perf_counter() - start) / 2 else "all of it"
