"""An `assert` on a tensor breaks when its message is anything but a constant.

`assert t.all(), "constant"` and a bare `assert t.all()` cost nothing: Dynamo traces them as an
asynchronous assert inside the graph. A message that must be computed, such as an f-string with a
placeholder, a `%` or `.format`, or even a name that holds a constant string, cannot travel with
that assert, so the assert becomes a data-dependent branch and ends the graph (2.6 to 2.15). Whether
the message mentions a tensor does not matter; `f"n = {n}"` breaks too.

Write a constant message, or move the check with its rich message to where the data enters, outside
the compiled code. The condition must be one tensor: `assert not t`, `assert a and b` and `assert 0
< t < 1` break by themselves (BRK105, BRK104, BRK109); write `torch.logical_not(t)` and `(a) & (b)`.

The rewrite writes the source of each value into the text, in the place of the value. Values and gradients stay; the message says less,
and when compiled the error is a RuntimeError that on CUDA arrives late.
"""

import torch

from breakscope.rulekit.events import Branch
from breakscope.rulekit.rule import Rule

rule = Rule("BRK106", "assert-with-computed-message", shares=("GB0170",), fix="unsafe")


@rule.on(Branch, construct="assert")
def check(event):
    if event.test.is_tensor and event.has_message and not event.literal_message:
        yield event.problem(
            f"the message of `assert {event.source}` is not a constant, so the tensor is read here and the graph ends",
            help="give the assert a constant message, or none: then Dynamo keeps the check in the graph",
        )


@rule.rewrite
def rewrite(node, problem):
    import libcst as cst

    from breakscope.rulekit.patch import Patch
    from breakscope.rulekit.rewrites.validation import message_of

    if not isinstance(node, cst.SimpleStatementLine) or not isinstance(node.body[0], cst.Assert):
        return None
    stated = node.body[0]
    found = message_of(stated.msg, whole=False) if stated.msg is not None else None
    if found is None or found[0] == cst.Module([]).code_for_node(stated.msg):
        return None
    return Patch(node.with_deep_changes(stated, msg=cst.parse_expression(found[0])))


@rule.example(lambda: (torch.tensor([1, 2]),), lambda: (torch.tensor([9]),))
def bad(ids):
    assert ids.max() < 8, f"index {ids.max()} out of range"  # BRK106
    return ids * 2


@rule.becomes
def good(ids):
    assert ids.max() < 8, "index `ids.max()` out of range"
    return ids * 2
