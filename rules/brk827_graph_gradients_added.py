"""Gradients of CUDA graphs are added up over several calls.

With `mode="reduce-overhead"` or "max-autotune" on a GPU the backward pass is a CUDA graph too, and
the gradients that it leaves in `.grad` are its outputs. The next step writes over them, so a second
backward pass that adds to them raises a RuntimeError ("accessing tensor output of CUDAGraphs that
has been overwritten by a subsequent run"): where `zero_grad()` stands under `if step % n == 0`,
where it stands around a loop over micro-batches, and with `zero_grad(set_to_none=False)` (all seen
with torch 2.11 on an H100, with and without `GradScaler`).

Say once per optimizer step that the next one begins, with
`torch.compiler.cudagraph_mark_step_begin()`; or add up the losses and call `backward()` once; or
use `mode="max-autotune-no-cudagraphs"`.
"""

import torch

from breakscope.rulekit.rule import Rule
from breakscope.rulekit.usage import Added

rule = Rule("BRK827", "graph-gradients-added", kind="usage", severity="error")

FIXES = {
    "nowhere": "use `zero_grad()`, whose `set_to_none` is True, before each backward pass",
    "in some rounds": "call `torch.compiler.cudagraph_mark_step_begin()` once before the first backward pass of each optimizer step",
    "around the loop": "call `torch.compiler.cudagraph_mark_step_begin()` before this loop, where the optimizer step begins",
}


@rule.on(Added)
def check(event):
    yield event.problem(
        f"this adds to the gradients of the backward pass before, and the CUDA graphs of `{event.subject}` write over those",
        help=FIXES[event.where],
    )


@rule.program(
    on="cuda", shows={"error": "CUDAGraphs that has been overwritten"}, instead={"error": ""}
)
def bad():
    model = torch.compile(torch.nn.Linear(64, 64).to("cuda"), mode="reduce-overhead")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(6):
        model(torch.randn(8, 64, device="cuda")).sum().backward()  # BRK827
        if step % 2:
            optimizer.step()
            optimizer.zero_grad()


@rule.becomes
def good():
    model = torch.compile(torch.nn.Linear(64, 64).to("cuda"), mode="reduce-overhead")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(6):
        if step % 2 == 0:
            torch.compiler.cudagraph_mark_step_begin()
        model(torch.randn(8, 64, device="cuda")).sum().backward()
        if step % 2:
            optimizer.step()
            optimizer.zero_grad()
