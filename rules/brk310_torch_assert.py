"""`torch._assert`, and `torch._check` on a value, read the tensor, and the graph ends.

They look like the graph's own assertions and are not: `torch._assert(t, ...)` tests the truth of the
tensor (GB0033), and so do `torch._check(bool(t))` and `torch._check_tensor_all(t)` (GB0124).
They are meant for shapes and for numbers that are already symbolic, where they cost nothing.

Plain Python does better: `assert t.all(), "a constant message"` is traced as an asynchronous
assert, and `torch._assert_async(t, "message")` is the same spelled out. Or check where the data
enters, outside the compiled code.

The rewrite takes the asynchronous form. It is unsafe because a failure then comes as a
RuntimeError, late on CUDA where it leaves the device unusable. Values and gradients stay as they
were.
"""

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule("BRK310", "torch-assert", shares=("GB0033", "GB0124"), fix="unsafe")


@rule.on(Call, "torch._assert", "torch._check_tensor_all", "torch._check_tensor_all_with")
def check(event):
    tensor = event.argument(0, "condition")
    if event.name != "torch._assert" or (tensor is not None and tensor.is_tensor):
        yield event.graph_break(
            f"`{event.source}` reads the tensor to check it",
            help='write `assert condition, "constant message"` or `torch._assert_async(condition, ...)`',
        )


@rule.rewrite
def rewrite(node, problem):
    import libcst as cst

    from breakscope.rulekit import rewriting as rw

    found = rw.find_in_line(node, problem)
    given = (
        rw.arguments(found)
        if isinstance(found, cst.Call) and rw.dotted(found.func) == "torch._assert"
        else None
    )
    if not given or len(given[0]) != 2 or given[1] or not isinstance(given[0][1], cst.SimpleString):
        return None
    return node.with_deep_changes(found.func, attr=cst.Name("_assert_async"))


@rule.example(lambda: (torch.ones(3),), lambda: (torch.empty(0),), dynamo=("GB0033",))
def bad(x):
    torch._assert((x > -1).all(), "too small")  # BRK310
    return x * 2


@rule.becomes
def good(x):
    torch._assert_async((x > -1).all(), "too small")
    return x * 2


@rule.example(lambda: (torch.ones(3),), dynamo=("GB0124",))
def bad_check(x):
    x = x * 2
    torch._check_tensor_all(x > 0, lambda: "too small")  # BRK310
    return x.cos()
