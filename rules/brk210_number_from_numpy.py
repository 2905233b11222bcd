"""A Python number taken from a traced numpy array ends the graph.

Dynamo traces numpy as torch operators: `x.numpy()`, arithmetic on the array and
`torch.from_numpy(...)` stay in one graph. `float(array.mean())`, `array.max().item()`, or
`int(np.argmax(a))` read a value, like `.item()` on a tensor (GB0033 on `aten._local_scalar_dense`,
since 2.6 and still in 2.15).

Python's `round` of an array, or of a number that NumPy computes in the region, is worse: `torch.compile` raises a
RuntimeError instead of ending the graph. `round(math.sqrt(n))` and `np.round` are traced.

What NumPy computes of Python's numbers and sizes (`np.ceil(np.log(n)).astype(int).item()`) is such an array, too:
write `math.ceil(math.log(n))`.

Drop the cast of others: `x - array.mean()` is traced. Better still, leave numpy out of compiled code:
`x.mean()` does the same without a detour, keeps the gradient (which `.numpy()` cannot carry), and
works on a GPU.

The result is then a tensor; numpy's float64 default for means of integers becomes torch's float32.
"""

import math

import numpy as np
import torch

from breakscope import limits
from breakscope.rulekit.events import Call, ScalarRead
from breakscope.rulekit.numbers.by_math import by_math, rewritten_by_math
from breakscope.rulekit.rule import Rule
from breakscope.rulekit.values import Py
from breakscope.texts import middle_out

rule = Rule("BRK210", "number-from-numpy", shares=("GB0033", "GB0088", "GB0208"), fix="unsafe")


@rule.on(ScalarRead, how=("item", "int", "float", "bool"))
def check(event):
    if getattr(event.value, "kind", "") == "numpy":
        text = by_math(event.node)
        is_of_numbers = event.value.origin == "numbers"
        yield event.graph_break(
            f"`{event.source}` reads a number from the array `{event.expression}`",
            help=f"compute it with `math`: `{middle_out(text, limits.LONGEST_SNIPPET)}`"
            if text and is_of_numbers
            else f"drop the cast, `{event.expression}` is traced, or compute it in torch",
            fixable=is_of_numbers or not text,
        )


@rule.on(Call, "round")
def check_round(event):
    value = event.argument(0, "number")
    if value is not None and _is_of_numpy(value):
        yield event.problem(
            f"`{event.shown}` rounds a number of NumPy's, at which `torch.compile` fails with a RuntimeError",
            help="compute it with Python's `math`, as `round(math.sqrt(n))`, or take `np.round`",
            fixable=False,
        )


@rule.on(Call, "divmod")
def check_divmod(event):
    if any(map(_is_of_numpy, event.args)):
        yield event.graph_break(
            f"Dynamo does not trace `{event.shown}` of a number of NumPy's",
            help="compute it with Python's numbers, as `divmod(math.prod(shape), n)`",
            fixable=False,
            skips="call",
            dynamo=("GB0088",),
        )


@rule.on(Call, "set")
def check_set(event):
    value = event.argument(0, "iterable")
    if getattr(value, "kind", "") == "numpy":
        yield event.graph_break(
            f"`{event.shown}` hashes the numbers of an array, which are arrays while Dynamo traces",
            help="make the set outside of the compiled code, or of Python's numbers",
            fixable=False,
            skips="call",
            dynamo=("GB0088",),
        )


def _is_of_numpy(value):
    """True for an array, and for a number that NumPy computes."""
    is_number = isinstance(value, Py) and value.type.startswith("numpy ")
    return is_number or getattr(value, "kind", "") == "numpy"


@rule.rewrite
def rewrite(node, problem, place):
    import libcst as cst

    from breakscope.rulekit import rewriting as rw
    from breakscope.rulekit.scalars import may_stay_tensor

    if (made := rewritten_by_math(node, problem)) is not None:
        return made
    found = rw.find_in_line(node, problem)
    if (
        not isinstance(found, cst.Call)
        or rw.dotted(found.func) != "float"
        or not may_stay_tensor(node, found, place)
    ):
        return None
    return rw.swap(node, found, rw.code(found.args[0].value))


@rule.example(
    lambda: (torch.arange(4.0),),
    lambda: (torch.full((2,), torch.nan),),
    dynamo=("GB0033",),
    gradients=False,
)
def bad(x):
    array = x.numpy()
    return x - float(array.mean())  # BRK210


@rule.becomes
def good(x):
    array = x.numpy()
    return x - array.mean()


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0088",), fixed=False)
def bad_set(x):
    return x * len(set(np.arange(3)))  # BRK210


@rule.example(lambda: (torch.ones(4, 3),), dynamo=("GB0088",), fixed=False)
def bad_division(x):
    whole, rest = divmod(np.prod(x.shape), 5)  # BRK210
    return x * whole + rest


@rule.becomes
def good_division(x):
    whole, rest = divmod(math.prod(x.shape), 5)
    return x * whole + rest


@rule.example(lambda: (torch.ones(9, 2),), dynamo=("GB0208",))
def bad_of_size(x):
    rows = np.ceil(np.log(x.shape[0])).astype("int").item()  # BRK210
    return x[:rows] + 1


@rule.becomes
def good_of_size(x):
    rows = math.ceil(math.log(x.shape[0]))
    return x[:rows] + 1
