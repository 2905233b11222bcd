"""A check that raises on a tensor's value ends the graph.

`if bad(x): raise ...` is a branch like any other: Dynamo stops, reads one bool from the device and
goes on behind the check. A check that never fires so costs a synchronisation in every step, and
often the only break of a model is one.

Three ways out. Move the check to where the data enters, outside the compiled function. Or keep it
in the graph: `assert condition, "a constant message"` is traced as an asynchronous assert (see
BRK106 for the messages that are not), and so is `torch._assert_async(condition, "message")`. Or
give up the exception and clean the values, with `torch.nan_to_num` or `clamp`.
`torch._check(bool(t))`, `torch._assert(t)` and `torch._check_tensor_all(t)` are no fix: on 2.13
each of them breaks the graph (GB0124, GB0033, GB0124).

The rewrite writes the assert, one for each side of an `or`, below the flags of an `and`. An assert
takes a constant message only, so that a value in the text is named there (`ids.max()`) and no
longer shown; shapes and dtypes are kept, by `torch._assert_async`, which takes an f-string of these.

What the rewrite changes: the exception becomes an AssertionError in eager mode and a RuntimeError
when compiled; on CUDA a failing asynchronous assert arrives late and leaves the device unusable;
`python -O` drops the check. Values and gradients stay as they were.
"""

import torch

from breakscope.rulekit.events import Branch
from breakscope.rulekit.rule import Rule

rule = Rule("BRK102", "validate-by-raising", shares=("GB0170",), fix="unsafe")


@rule.on(Branch, construct=("if", "elif"), raises=True)
def check(event):
    if event.test.is_tensor:
        yield event.graph_break(
            f"the check `if {event.written}` reads a tensor's value to decide whether to raise or warn",
            help='check outside the compiled code, or write `assert condition, "constant message"`, which stays '
            "in the graph",
        )


@rule.rewrite
def rewrite(node, problem, place):
    import libcst as cst

    from breakscope.rulekit.rewrites.validation import as_assert

    return as_assert(node, problem) if isinstance(node, cst.If) else None


@rule.example(
    lambda: (torch.ones(4),), lambda: (torch.full((4,), torch.nan),), lambda: (torch.empty(0),)
)
def bad(x):
    if torch.isnan(x).any():  # BRK102
        raise ValueError("NaN in the input")
    return x * 2


@rule.becomes
def good(x):
    assert torch.logical_not(torch.isnan(x).any()), "NaN in the input"
    return x * 2


@rule.example(
    lambda: (torch.tensor([1, 2]),), lambda: (torch.tensor([9]),), lambda: (torch.tensor([-1]),)
)
def bad_range(ids):
    ids = ids + 1
    if ids.min() < 0 or ids.max() >= 8:  # BRK102
        raise IndexError(f"id {ids.max()} is out of range")
    return ids * 2


@rule.becomes
def good_range(ids):
    ids = ids + 1
    assert torch.logical_not(ids.min() < 0), "id `ids.max()` is out of range"
    assert torch.logical_not(ids.max() >= 8), "id `ids.max()` is out of range"
    return ids * 2


@rule.example(lambda: (torch.ones(4),), lambda: (torch.full((4,), torch.inf),))
def bad_shape(x):
    if not torch.isfinite(x).all():  # BRK102
        raise ValueError(f"{tuple(x.shape)} holds values that are not finite")
    return x * 2


@rule.becomes
def good_shape(x):
    torch._assert_async(
        torch.isfinite(x).all(), f"{tuple(x.shape)} holds values that are not finite"
    )
    return x * 2
