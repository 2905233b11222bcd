"""Setting `.data` of a tensor that was made inside the region ends the graph.

`y.data = z` swaps the memory below a tensor. Dynamo replays that for inputs, parameters and
buffers, which have memory outside of the graph. A tensor that the region itself made is a value in
the graph, without memory to swap; the graph ends at the store.

Give the name to the new tensor, `y = z`; where autograd must not see the step, `y = z.detach()`. To
change part of a tensor in place write `y[mask] = 0` or `y.copy_(z)` under `torch.no_grad()`.

The rewrite gives the name to the new tensor under `torch.no_grad()`, and declines elsewhere: gradients
would go through the new tensor, where `.data` leaves those of the old one. Another name for the old
tensor does not see the new values.
"""

import torch

from breakscope.rulekit.events import Store
from breakscope.rulekit.rule import Rule

rule = Rule("BRK537", "data-of-intermediate", dynamo=("GB0056",), fix="unsafe")


@rule.on(Store, scope="tensor", name="data")
def check(event):
    tensor = event.initial
    if (
        not tensor.is_computed
        or tensor.kind in ("parameter", "buffer")
        or not event.owner.isidentifier()
    ):
        return
    yield event.graph_break(
        f"`{event.owner}` was made inside the region, where its `.data` cannot be set",
        help=f"give the name to the new tensor: `{event.owner} = ...`",
    )


@rule.rewrite
def rewrite(node, problem, place):
    import libcst as cst

    from breakscope.rulekit.patch import Declined
    from breakscope.rulekit.rewrites.contexts import is_without_gradients

    if not is_without_gradients(place):
        return Declined("gradients would go through the new tensor")
    if (
        not isinstance(node, cst.SimpleStatementLine)
        or len(node.body) != 1
        or not isinstance(node.body[0], cst.Assign)
    ):
        return None
    assignment = node.body[0]
    target = assignment.targets[0].target
    if (
        len(assignment.targets) != 1
        or not isinstance(target, cst.Attribute)
        or not isinstance(target.value, cst.Name)
    ):
        return None
    renamed = assignment.with_changes(
        targets=[assignment.targets[0].with_changes(target=target.value)]
    )
    return node.with_changes(body=[renamed])


@rule.example(
    lambda: (torch.ones(4),),
    lambda: (torch.full((4,), torch.nan),),
    lambda: (torch.empty(0),),
)
def bad(x):
    with torch.no_grad():
        y = x.clone()
        # twice as large
        y.data = x * 2  # BRK537
    return y + 1


@rule.becomes
def good(x):
    with torch.no_grad():
        y = x.clone()
        # twice as large
        y = x * 2
    return y + 1


@rule.example(lambda: (torch.ones(4),), gradients=False, fixed=False)
def bad_with_gradients(x):
    y = x.clone()
    y.data = x * 2  # BRK537
    return y + 1


@rule.becomes
def good_with_gradients(x):
    y = x.clone()
    y = x * 2
    return y + 1
