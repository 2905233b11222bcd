"""An `if` on a tensor's value ends the graph.

Python must know which way to go, so Dynamo stops the graph, runs what it has, reads one bool from
the device and starts a new graph behind the branch. On a GPU the host waits for the device there,
in every step. Inside a loop, a `try` or a generator Dynamo skips the whole function instead.
Every torch version from 2.6 to 2.15 does this.

Write the choice as tensor work: `torch.where(condition, a, b)` where both sides are cheap and
finite, a mask or `clamp` where one side is the identity, `torch.cond` where one side is expensive. If
the answer never changes during training, decide it in `__init__` and store a Python bool.

Mind the gradients: with `torch.where` both sides run, and a side that is infinite or NaN where it
is not chosen still gives a NaN gradient (0 * inf). Clamp its input first. Both sides must also
broadcast to one shape and dtype. That is why the rewrite counts as unsafe. It covers `if`/`else`
that set one name, and the conditional expression, where the condition is a tensor itself (`a in b`
is a bool of Python's), and where both sides may always run: none draws random numbers, changes
something, calls what is not torch's, or has such a gradient.
"""

import torch

from breakscope.rulekit.events import Branch
from breakscope.rulekit.rule import Rule

rule = Rule("BRK101", "branch-on-tensor", dynamo=("GB0170",), fix="unsafe")


@rule.on(Branch, construct=("if", "elif", "ternary"))
def check(event):
    if event.test.is_tensor and not event.raises:
        yield event.graph_break(
            f"`if {event.written}` reads a tensor's value",
            help="choose with `torch.where(condition, a, b)`, or with `torch.cond` when one side is expensive",
        )


@rule.rewrite
def rewrite(node, problem):
    import libcst as cst

    from breakscope.rulekit import rewriting as rw

    if isinstance(node, cst.If):
        return _if_as_where(node, problem, cst, rw)
    if not isinstance(node, cst.SimpleStatementLine):
        return None
    for part in rw.walk(node):
        if isinstance(part, cst.IfExp) and rw.same(part.test, problem.node):
            if not rw.is_tensor_test(part.test) or not all(
                rw.may_be_tensor(side) and rw.may_always_run(side)
                for side in (part.body, part.orelse)
            ):
                return None
            return rw.swap(
                node,
                part,
                f"torch.where({rw.code(part.test)}, {rw.code(part.body)}, {rw.code(part.orelse)})",
            )
    return None


def _if_as_where(node, problem, cst, rw):
    if not rw.same(node.test, problem.node) or not rw.is_tensor_test(node.test):
        return None
    then, otherwise = rw.only_assignment(node.body), None
    if isinstance(node.orelse, cst.Else) and not node.orelse.leading_lines:
        otherwise = rw.only_assignment(node.orelse.body)
    if not then or (node.orelse and not otherwise) or (otherwise and otherwise[0] != then[0]):
        return None
    sides = [side for side in (then, otherwise) if side]
    if not all(rw.may_be_tensor(side[1]) and rw.may_always_run(side[1]) for side in sides):
        return None
    name = then[0]
    values = [
        f"{name} {side[2]} {rw.operand(side[1])}" if side[2] else rw.code(side[1]) for side in sides
    ]
    return rw.line_instead(
        node, f"{name} = torch.where({rw.code(node.test)}, {', '.join([*values, name][:2])})"
    )


@rule.example(
    lambda: (torch.ones(4),), lambda: (-torch.ones(4),), lambda: (torch.full((4,), torch.nan),)
)
def bad(x):
    # warm inputs are doubled
    if x.sum() > 0:  # BRK101
        x = x * 2
    return x + 1


@rule.becomes
def good(x):
    # warm inputs are doubled
    x = torch.where(x.sum() > 0, x * 2, x)
    return x + 1


@rule.example(lambda: (torch.ones(4),), lambda: (-torch.ones(4),), lambda: (torch.empty(0),))
def bad_ternary(x):
    y = x.exp() if x.sum() > 0 else x - 1  # BRK101
    return y * 2


@rule.becomes
def good_ternary(x):
    y = torch.where(x.sum() > 0, x.exp(), x - 1)
    return y * 2
