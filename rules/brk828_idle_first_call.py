"""A compiled function whose first call has no operation on a tensor is skipped from then on.

Dynamo compiles a function in its first call. When that call comes to its `return` without an operation
that could stand in a graph (a flag is off, a list is still empty, the argument is handed back), Dynamo
skips the function, and does not look at it again: later calls, which do have operations, are not
compiled either. No message says so.

Call the function first with arguments for which it computes something, or test in the caller whether
there is anything to compute. With `fullgraph=True` the function is compiled for that call as well, and
once more for the next.
"""

import torch

from breakscope.rulekit.events import Varies
from breakscope.rulekit.rule import Rule

rule = Rule("BRK828", "idle-first-call", kind="usage", severity="warning")


@rule.on(Varies, what="idle")
def check(event):
    yield event.problem(
        f"the first call of `{event.name}` ends here without an operation on a tensor, so it is skipped as a whole from then on",
        help="test in the caller whether there is anything to compute, or compile with `fullgraph=True`",
    )


@rule.program(shows={"graphs": 0}, instead={"graphs": 1})
def bad():
    @torch.compile(backend="eager")
    def augment(image, flip):
        if flip:
            image = image.flip(-1)
        return image  # BRK828

    for flip in (False, True):
        augment(torch.ones(2, 2), flip)


@rule.becomes
def good():
    @torch.compile(backend="eager")
    def augment(image):
        return image.flip(-1)

    for flip in (False, True):
        if flip:
            augment(torch.ones(2, 2))


@rule.program(shows={"graphs": 0}, instead={"graphs": 3})
def bad_growing():
    @torch.compile(backend="eager")
    def blend(image, others):
        for other in others:
            image = image + other
        return image  # BRK828

    others = []
    for _ in range(3):
        image = torch.ones(2)
        blend(image, others)
        others.append(image)


@rule.becomes
def good_growing():
    @torch.compile(backend="eager", fullgraph=True)
    def blend(image, others):
        for other in others:  # BRK720
            image = image + other
        return image

    others = []
    for _ in range(3):
        image = torch.ones(2)
        blend(image, others)
        others.append(image)
