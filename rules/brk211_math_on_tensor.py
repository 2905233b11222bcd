"""A function of `math` reads a tensor's value, and the graph ends.

`math.sqrt(t)` converts its argument to a Python float first. Dynamo ends the graph there (GB0033 on
`aten._local_scalar_dense`) and compiles the rest again for the number. On shapes and other Python
numbers `math` is free: `math.sqrt(x.shape[-1])` is folded while tracing. `math.prod` and
`math.radians` only multiply, and stay in the graph. A number that NumPy computes in the region is an array there:
`math.ceil(np.log2(n))` and `math.sqrt(np.prod(shape))` read it (GB0033, GB0208); `math.ceil(math.log2(n))` does not.

Write the torch function of the same name: `torch.sqrt(t)`, `torch.log(t)`, `torch.isnan(t)`.
`math.ceil` and `math.floor` return ints where torch returns floats: add `.long()` if it matters.

The rewrite detaches the argument, since no gradient goes through `math`. What it changes: float32
arithmetic replaces float64; where `math` raises a domain error (log of zero, root of a negative
number) torch gives inf or NaN.
"""

import ast
import math
from math import log2 as log

import numpy as np
import torch

from breakscope import limits
from breakscope.rulekit.events import ScalarRead
from breakscope.rulekit.numbers.by_math import by_math, rewritten_by_math
from breakscope.rulekit.rule import Rule
from breakscope.texts import middle_out

rule = Rule("BRK211", "math-on-tensor", shares=("GB0033", "GB0208"), fix="unsafe")


SAME_NAME = "acos asin atan ceil cos cosh erf exp expm1 floor lgamma log log10 log1p log2 sin sinh sqrt tan tanh trunc".split()


@rule.on(ScalarRead, how="math")
def check(event):
    if event.value.kind == "numpy":
        text = by_math(event.node) if event.value.origin == "numbers" else ""
        advice = f"write `{middle_out(text, limits.LONGEST_SNIPPET)}`"
        yield event.graph_break(
            f"`{event.source}` reads `{event.expression}`, which is an array while Dynamo traces",
            help=advice
            if text
            else "compute it with `math`, as `math.ceil(math.log2(n))`, or do it in `__init__`",
            fixable=bool(text),
        )
        return
    yield event.graph_break(
        f"`{event.source}` reads the value of the tensor `{event.expression}`",
        help="write the function of the same name in `torch`; add `.detach()` if no gradient should flow",
    )


@rule.rewrite
def rewrite(node, problem, place):
    import libcst as cst

    from breakscope.rulekit import rewriting as rw
    from breakscope.rulekit.scalars import detached, may_stay_tensor

    if (made := rewritten_by_math(node, problem)) is not None:
        return made
    found = rw.find_in_line(node, problem)
    if not isinstance(found, cst.Call) or len(found.args) != 1:
        return None
    name = _name_in_math(rw.dotted(found.func), place.tree)
    if name not in SAME_NAME or not may_stay_tensor(node, found, place):
        return None
    return rw.swap(node, found, f"torch.{name}({detached(found.args[0].value)})")


def _name_in_math(called: str, tree: ast.Module) -> str:
    """What `math` calls the function, by itself or behind `from math import`; "" where the file's imports
    do not show it."""
    owner, _, name = called.partition(".")
    if owner == "math":
        return name
    imported = [p for p in tree.body if isinstance(p, ast.ImportFrom) and p.module == "math"]
    known = {alias.asname or alias.name: alias.name for part in imported for alias in part.names}
    return known.get(called, "")


@rule.example(
    lambda: (torch.arange(4.0),), lambda: (torch.full((2,), torch.nan),), dynamo=("GB0033",)
)
def bad(x):
    return x / math.sqrt(x.sum() + 1)  # BRK211


@rule.becomes
def good(x):
    return x / torch.sqrt((x.sum() + 1).detach())


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0208",))
def bad_of_numpy(x):
    return x * math.ceil(np.log2(x.shape[0]))  # BRK211


@rule.becomes
def good_of_numpy(x):
    return x * math.ceil(math.log2(x.shape[0]))


@rule.example(lambda: (torch.arange(4.0),), dynamo=("GB0033",))
def bad_by_its_name(x):
    return x / log(x.sum() + 1)  # BRK211


@rule.becomes
def good_by_its_name(x):
    return x / torch.log2((x.sum() + 1).detach())
