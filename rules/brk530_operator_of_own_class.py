"""An operator between a tensor and an object of your own class ends the graph.

`pose @ points`, `scale * x` or `x + bias`, where `pose` is an object of a class that defines
`__matmul__`, `__mul__` or `__radd__`: Dynamo sees a tensor among the operands, takes the operator
for tensor work, and cannot put the object into the graph. It does so for every operator and on
either side, from torch 2.11 on. Between two objects only `@` breaks, and of the operators with one
operand only `~`, both until torch 2.15. Comparisons (`pose == x`), and all methods called by name,
are traced.

Call a method instead: `pose.apply(points)`, with the operator defined as an alias of it for code
outside the region.
"""

import torch

from breakscope.knowledge import since
from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule(
    "BRK530",
    "operator-of-own-class",
    dynamo=("GB0059: operator `(matmul|invert)`",),
    shares=("GB0055",),
    since="2.11",
)

OPERATORS = {
    f"object.__{name}__"
    for name in "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split()
}


@rule.on(Call, OPERATORS)
def check(event):
    if event.receiver is None:
        return  # written as a call: no object of an own class is known
    tensors = [value.is_tensor for value in event.args]
    if any(tensors) or (event.name == "object.__matmul__" and not since("2.15")):
        what = "a tensor and an object of" if any(tensors) else "objects of"
        yield event.graph_break(
            f"`{event.shown}` is an operator between {what} `{event.receiver.cls.info.name}`",
            help="call a method by its name instead of the operator",
        )


@rule.on(Call, "object.__invert__")
def check_inverted(event):
    if event.receiver is not None and not since("2.15"):
        name = event.receiver.cls.info.name
        yield event.graph_break(
            f"`{event.shown}` is `__invert__` of `{name}`, which Dynamo does not call",
            help="call a method by its name instead of the operator",
        )


class Pose:
    def __init__(self, rotation, offset):
        self.rotation, self.offset = rotation, offset

    def apply(self, points):
        return points @ self.rotation + self.offset

    __matmul__ = apply


@rule.example(
    lambda: (torch.ones(4, 4),), lambda: (torch.full((4, 4), torch.nan),), dynamo=("GB0055",)
)
def bad(x):
    pose = Pose(x, x[0])
    return pose @ x  # BRK530


@rule.becomes
def good(x):
    pose = Pose(x, x[0])
    return pose.apply(x)


class Rotation:
    def __init__(self, matrix):
        self.matrix = matrix

    def after(self, other):
        return Rotation(self.matrix @ other.matrix)

    def __matmul__(self, other):
        return self.after(other)

    def __invert__(self):
        return Rotation(self.matrix.T)


@rule.example(lambda: (torch.ones(4, 4),), dynamo=("GB0059",))
def bad(x):
    turn = Rotation(x)
    return (turn @ turn).matrix  # BRK530


@rule.becomes
def good(x):
    turn = Rotation(x)
    return turn.after(turn).matrix


@rule.example(lambda: (torch.ones(4, 4),), dynamo=("GB0059",))
def bad(x):
    turn = Rotation(x)
    return (~turn).matrix + 1  # BRK530
