"""`range(t)` over a tensor ends the graph.

`range` needs a Python int, so Dynamo reads the tensor (GB0059 up to 2.13, GB0124 in 2.15). The loop
is then unrolled for that very count: another count is another compile, up to the recompile limit.

Pass the count as a Python int when the caller knows it. When the count is data, loop to a fixed
maximum and let `torch.where(i < n, new, old)` freeze the value once its count is reached; or keep
the loop in the graph with `torch._higher_order_ops.while_loop`. Each frozen step still runs, and
gradients pass through the chosen side only; a step that overflows after its count spoils them, so
clamp its input.
"""

import torch

from breakscope.rulekit.events import ScalarRead
from breakscope.rulekit.rule import Rule

rule = Rule(
    "BRK207", "range-over-tensor", dynamo=("GB0059: `range`",), shares=("GB0124",), fix="unsafe"
)


@rule.on(ScalarRead, how="range")
def check(event):
    yield event.graph_break(
        f"`{event.source}` needs the value of the tensor `{event.expression}`",
        help=f"pass the count as a Python int, or loop to a fixed bound with `torch.where(i < {event.expression}, "
        "new, old)`",
        setting="capture_scalar_outputs" if event.is_guarded else "",
        guarded=event.is_guarded,
    )


@rule.rewrite
def rewrite(node, problem, place):
    import ast

    from breakscope.rulekit.switches import read_as_number

    call = problem.node
    wanted = call.args[0] if isinstance(call, ast.Call) and len(call.args) == 1 else call
    return read_as_number(node, problem, place, wanted)


@rule.example(
    lambda: (torch.ones(3), torch.tensor(2)),
    lambda: (torch.ones(3), torch.tensor(0)),
    dynamo=("GB0059",),
    fixed=False,
)
def bad(x, steps):
    for _ in range(steps):  # BRK207
        x = x * 0.5 + 1
    return x


@rule.becomes
def good(x, steps):
    for i in range(4):
        x = torch.where(i < steps, x * 0.5 + 1, x)
    return x
