"""An argument that is compared by identity gets the first call's answer in each call.

`if node is ROOT`, and `node in SPECIAL` or `node == ROOT` for objects that equal only themselves, ask which object an
argument is. Dynamo answers that while it traces, and guards the type of the object and what the code reads of it, but
not which one it is: a later call with another object of the class takes the same side, without a word.

Let the objects say what they are: an attribute (`node.is_root`), an enum's member or a flag as an argument is guarded,
and has one version for each value. Or compare outside of the region, and hand in what came out.
"""

import torch

from breakscope.rulekit.events import Varies
from breakscope.rulekit.rule import Rule

rule = Rule("BRK838", "unguarded-identity", kind="usage", severity="error")


@rule.on(Varies, what="identity")
def check(event):
    yield event.problem(
        f"Dynamo has no guard on which object `{event.name}` is: later calls get the answer of the first one here",
        help=f"compare outside of the region, and hand in a flag, or read an attribute of `{event.name}` in its place",
    )


@rule.program(shows={"returns": -1.0}, instead={"returns": 1.0})
def bad():
    class Node:
        pass

    root = Node()

    @torch.compile(backend="eager")
    def step(x, node):
        if node is root:  # BRK838
            return x + 1
        return x - 1

    step(torch.zeros(()), Node())
    return step(torch.zeros(()), root).item()


@rule.becomes
def good():
    class Node:
        pass

    root = Node()

    @torch.compile(backend="eager")
    def step(x, is_root):
        if is_root:
            return x + 1
        return x - 1

    step(torch.zeros(()), Node() is root)
    return step(torch.zeros(()), root is root).item()


@rule.program(shows={"returns": -1.0}, instead={"returns": 1.0})
def bad_listed():
    class Node:
        pass

    special = [Node(), Node()]

    @torch.compile(backend="eager")
    def step(x, node):
        return x + 1 if node in special else x - 1  # BRK838

    step(torch.zeros(()), Node())
    return step(torch.zeros(()), special[0]).item()


@rule.becomes
def good_listed():
    class Node:
        is_special = False

    special = Node()
    special.is_special = True

    @torch.compile(backend="eager")
    def step(x, node):
        return x + 1 if node.is_special else x - 1

    step(torch.zeros(()), Node())
    return step(torch.zeros(()), special).item()
