"""Inputs or parameters of several dtypes compile again.

A graph is compiled for the dtypes it saw: integers instead of floats, float64 from numpy, a module
moved with `model.double()` or `model.half()` between calls make another graph.

Convert at the border: `x = x.to(torch.float32)` before the compiled call, and set the module's
dtype once, before it is compiled.
"""

import torch

from breakscope.rulekit.events import Varies
from breakscope.rulekit.rule import Rule

rule = Rule("BRK717", "dtype-varies", kind="recompile", severity="warning", dynamo=("dtype",))


@rule.on(Varies, what=("dtype", "module_dtype"))
def check(event):
    what = (
        "the module's parameters change their dtype"
        if event.what == "module_dtype"
        else (f"`{event.name}` comes in several dtypes{event.seen}")
    )
    yield event.problem(
        f"{what} between calls, so the region is compiled again",
        help="convert to one dtype before the compiled call",
    )


def calls():
    return [(torch.ones(4),), (torch.ones(4, dtype=torch.long),)]


@rule.example(calls=calls)
def bad(x):
    return x * 2  # BRK717


def precisions():
    return [(torch.ones(4),), (torch.ones(4).half(),), (torch.ones(4).double(),)]


@rule.example(calls=precisions)
def bad_precision(x):
    return x * 2  # BRK717
