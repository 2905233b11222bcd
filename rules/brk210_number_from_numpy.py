"""A Python number taken from a traced numpy array ends the graph.

Dynamo traces numpy as torch operators: `x.numpy()`, arithmetic on the array and
`torch.from_numpy(...)` stay in one graph. `float(array.mean())`, `array.max().item()`, or
`int(np.argmax(a))` read a value, like `.item()` on a tensor (GB0033 on `aten._local_scalar_dense`,
since 2.6 and still in 2.15).

Leave the cast away: `x - array.mean()` is traced. Better still, leave numpy away in compiled code:
`x.mean()` does the same without a detour, keeps the gradient (which `.numpy()` cannot carry), and
works on a GPU.

The result is then a tensor; numpy's float64 default for means of integers becomes torch's float32.
"""

import torch

from breakscope.rulekit.events import ScalarRead
from breakscope.rulekit.rule import Rule

rule = Rule("BRK210", "number-from-numpy", shares=("GB0033",), fix="unsafe")


@rule.on(ScalarRead, how=("item", "int", "float", "bool"))
def check(event):
    if getattr(event.value, "kind", "") == "numpy":
        yield event.graph_break(
            f"`{event.source}` reads a number from the array `{event.expression}`",
            help=f"leave the cast away, `{event.expression}` is traced, or compute it in torch",
        )


@rule.rewrite
def rewrite(node, problem, place):
    import libcst as cst

    from breakscope.rulekit import rewriting as rw
    from breakscope.rulekit.scalars import may_stay_tensor

    found = rw.find(node, problem) if isinstance(node, cst.SimpleStatementLine) else None
    if (
        not isinstance(found, cst.Call)
        or rw.dotted(found.func) != "float"
        or not may_stay_tensor(node, found, place)
    ):
        return None
    return rw.swap(node, found, rw.code(found.args[0].value))


@rule.example(lambda: (torch.arange(4.0),), lambda: (torch.full((2,), torch.nan),), gradients=False)
def bad(x):
    array = x.numpy()
    return x - float(array.mean())  # BRK210


@rule.becomes
def good(x):
    array = x.numpy()
    return x - array.mean()
