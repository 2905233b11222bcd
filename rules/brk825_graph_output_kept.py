"""An output of a CUDA graph is kept and read after the next call, which has written over it.

`mode="reduce-overhead"` and "max-autotune" record CUDA graphs on a GPU: every call writes its
outputs into the same memory. What an earlier call returned raises a RuntimeError when it is read
("accessing tensor output of CUDAGraphs that has been overwritten by a subsequent run"), or silently
holds the new values (both seen with torch 2.11 on an H100). So do losses that are collected with
`.detach()`, outputs that are compared with those of the step before, and an output that is read
after another such callable ran. While a call with gradients waits for its backward pass, all
outputs stay; any backward pass ends that, even one of another model.

Keep a copy (`.clone()`), or what is computed from it (`.cpu()`, `.item()`, a sum). Where several
calls belong to one step, `torch.compiler.cudagraph_mark_step_begin()` says where the next one
begins.
"""

import torch

from breakscope.rulekit.rule import Rule
from breakscope.rulekit.usage import Kept

rule = Rule("BRK825", "graph-output-kept", kind="usage", severity="error")


@rule.on(Kept)
def check(event):
    what = f"`{event.holder}` keeps" if event.holder else "this keeps"
    yield event.problem(
        f"{what} what `{event.subject}` returns, and the CUDA graph of the next call writes over it",
        help=f"keep a copy: `{event.kept}.clone()`",
    )


@rule.program(
    on="cuda", shows={"error": "CUDAGraphs that has been overwritten"}, instead={"error": ""}
)
def bad():
    model = torch.compile(torch.nn.Linear(64, 64).to("cuda"), mode="reduce-overhead")
    outputs = []
    with torch.no_grad():
        for _ in range(6):
            outputs.append(model(torch.randn(8, 64, device="cuda")))  # BRK825
    return torch.stack(outputs).sum().item()


@rule.becomes
def good():
    model = torch.compile(torch.nn.Linear(64, 64).to("cuda"), mode="reduce-overhead")
    outputs = []
    with torch.no_grad():
        for _ in range(6):
            outputs.append(model(torch.randn(8, 64, device="cuda")).clone())
    return torch.stack(outputs).sum().item()
