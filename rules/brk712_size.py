"""Inputs of several sizes compile again.

Dynamo first compiles for the sizes it sees. When one differs in a later call, it compiles once more
with that size as a symbol, and then accepts others. Size 1 (a batch of one) and 0 are never covered
by the symbol: they are compiled by themselves.

Say it beforehand: `torch._dynamo.mark_dynamic(x, 0)` on the first input, or
`torch.compile(dynamic=True)`, and the second compile does not happen. In a data loader use
`drop_last=True`, and pad lengths to a few steps (64, 128, 256).
"""

import torch

from breakscope.rulekit.events import Varies
from breakscope.rulekit.rule import Rule

rule = Rule("BRK712", "size-varies", kind="recompile", severity="warning", dynamo=("size",))


@rule.on(Varies, what="size", use=("other", "arithmetic"))
def check(event):
    one = any(value in ("1", "0") for value in event.values)
    yield event.problem(
        f"`{event.name}` comes in several sizes{event.seen}, so the region is compiled again"
        + (" (size 1 always by itself)" if one else ""),
        help=f"mark the dimension with `torch._dynamo.mark_dynamic({event.name}, dim)` before the first call, or pad",
    )


def calls():
    return [(torch.ones(n, 4),) for n in (8, 6, 5)]


@rule.example(calls=calls)
def bad(x):
    return x.softmax(-1)  # BRK712
