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

OWN = "size {} is a version of its own: pad it to 2, or call it once before timing"
CONSTANT = (
    "pad to a few fixed sizes: the code needs this one as a number, so `dynamic=True` does not help"
)
rule = Rule("BRK712", "size-varies", kind="recompile", severity="warning", dynamo=("size",))


@rule.on(Varies, what="size", use=("other", "arithmetic", "constant"))
def check(event):
    yield event.problem(
        f"`{event.name}` comes in several sizes{event.seen}, so the region is compiled again",
        help=advice(event),
    )


def advice(event):
    """A size of 0 or 1 is never made a symbol, nor one that a loop goes over; of tensors that grow together, one
    alone cannot be marked."""
    if event.use == "constant":
        return CONSTANT
    alone = sorted({size for _, sizes in event.changed for size in sizes if size in (0, 1)})
    others = [dimension for dimension, sizes in event.changed if len(set(sizes) - {0, 1}) > 1]
    apart = OWN.format(alone[0]) if alone else ""
    if apart and not others:
        return apart
    marked = others[0] if len(others) == 1 else others
    text = "compile with `dynamic=True`, or pad to a few sizes"
    if others and event.alone and event.name.isidentifier():
        mark = f"torch._dynamo.mark_dynamic({event.name}, {marked})"
        text = f"write `{mark}` before the first call, {text}"
    return f"{text}; {apart}" if apart else text


def calls():
    return [(torch.ones(n, 4),) for n in (8, 6, 5)]


@rule.example(calls=calls)
def bad(x):
    return x.softmax(-1)  # BRK712
