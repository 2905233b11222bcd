"""A size that becomes text or a key compiles one graph for each size.

An f-string, `str(...)`, a dict key or `hash(...)` needs the number itself, so Dynamo makes the size
a constant and guards it: dynamic shapes cannot help, and each new size is a new graph, until the
recompile limit (8) is reached and the code is skipped for good.

Keep sizes out of text and keys inside the region: name things by their place (`"features"`), and
add sizes outside.
"""

import torch

from breakscope.rulekit.events import Varies
from breakscope.rulekit.rule import Rule

rule = Rule("BRK714", "size-as-text", kind="recompile", severity="warning", dynamo=("size",))


@rule.on(Varies, what="size", use="format")
def check(event):
    yield event.problem(
        f"a size of `{event.name}` becomes text or a key and varies{event.seen}, so each size is a graph of its own",
        help="keep sizes out of text and keys inside the region",
    )


def calls():
    return [(torch.ones(n),) for n in (2, 3, 4, 5)]


@rule.example(calls=calls)
def bad(x):
    key = f"batch_{x.shape[0]}"  # BRK714
    return {key: x + 1}
