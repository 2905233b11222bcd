"""`dynamic=False` compiles for one size at a time, and a loop gives many sizes.

By default Dynamo notices the second size and compiles once more for any size. `dynamic=False`
forbids that: each size compiles anew, and behind `torch._dynamo.config.recompile_limit` (8) the
code is skipped without a word.

Leave `dynamic` out, or write `dynamic=True` where the first call is already to serve all sizes; or
pad to a few sizes.
"""

import torch

from breakscope.rulekit.rule import Rule
from breakscope.rulekit.usage import Use

rule = Rule("BRK817", "sizes-under-static-shapes", kind="usage", severity="warning")


@rule.on(Use, name="()", varies="size")
def check(event):
    if event.value.setting("dynamic") is False:
        yield event.problem(
            f"`{event.subject}` is compiled with `dynamic=False` and called with another size in each pass",
            help="leave `dynamic=False` out, or pad the input to a few sizes",
        )


@rule.program(shows={"graphs": 4}, instead={"graphs": 2})
def bad():
    model = torch.compile(torch.nn.Linear(4, 4), backend="eager", dynamic=False)
    for size in (2, 3, 4, 5):
        model(torch.ones(size, 4))  # BRK817


@rule.becomes
def good():
    model = torch.compile(torch.nn.Linear(4, 4), backend="eager")
    for size in (2, 3, 4, 5):
        model(torch.ones(size, 4))  # BRK712
