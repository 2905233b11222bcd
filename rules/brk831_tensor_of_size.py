"""`torch.Tensor(x.size())` makes another tensor under `torch.compile`, without a message.

In eager mode the constructors of old, `torch.Tensor`, `torch.FloatTensor`, `torch.LongTensor` and their kin, take a
`torch.Size` for the shape of the new tensor, and any other tuple for its numbers. Dynamo makes a plain tuple of the
`torch.Size`: of `torch.Tensor(x.size())` with an `x` of 4 rows of 6 comes a tensor of two numbers, 4 and 6. What goes
on with it is wrong, or fails with a RuntimeError about shapes that do not fit. `x.new(x.size())` is right.

Write `torch.empty(x.size())`, or `torch.zeros`, with the `dtype` that the old constructor stands for.
"""

import ast

import torch

from breakscope import limits
from breakscope.knowledge.tensor_types import CONSTRUCTORS, DTYPES
from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule
from breakscope.rulekit.values import Sequence
from breakscope.texts import middle_out

rule = Rule("BRK831", "tensor-of-size", kind="usage", severity="error")


@rule.on(Call, CONSTRUCTORS)
def check(event):
    size = event.args[0] if len(event.args) == 1 and not event.kwargs else None
    if type(size) is Sequence and size.type == "size":
        dtype = f", dtype=torch.{DTYPES[event.name]}" if event.name in DTYPES else ""
        yield event.problem(
            f"`{event.shown}` gives the numbers of the size while Dynamo traces, not a tensor of that size",
            help=f"write `torch.empty({_text(event)}{dtype})`, or `torch.zeros` where it is filled with zeros",
        )


def _text(event):
    """The size, as the source has it."""
    given = event.node.args if isinstance(event.node, ast.Call) else ()
    return middle_out(ast.unparse(given[0]), limits.LONGEST_SNIPPET) if given else "size"


@rule.program(shows={"returns": (2,)}, instead={"returns": (4, 6)})
def bad():
    @torch.compile(backend="eager")
    def noise(x):
        return torch.FloatTensor(x.size()).normal_()  # BRK831

    return tuple(noise(torch.ones(4, 6)).shape)


@rule.becomes
def good():
    @torch.compile(backend="eager")
    def noise(x):
        return torch.empty(x.size(), dtype=torch.float32).normal_()

    return tuple(noise(torch.ones(4, 6)).shape)


@rule.program(shows={"error": "TorchRuntimeError"}, instead={"error": ""})
def bad_sum():
    @torch.compile(backend="eager")
    def shifted(x):
        shift = torch.Tensor(x.size()).fill_(1.0)  # BRK831
        return x + shift

    return shifted(torch.ones(4, 6))


@rule.becomes
def good_sum():
    @torch.compile(backend="eager")
    def shifted(x):
        shift = torch.empty(x.size()).fill_(1.0)
        return x + shift

    return shifted(torch.ones(4, 6))
