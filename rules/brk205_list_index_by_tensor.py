"""Indexing a Python list, tuple or ModuleList by a tensor ends the graph.

A list needs a Python int, so Dynamo reads the tensor (GB0124; GB0218 up to 2.11). What follows is
compiled once per index that occurs: with eight experts, eight graphs and eight guards, and at the
recompile limit plain eager code.

For a list of tensors or numbers, index a tensor: `torch.stack(items)[i[None]][0]`, with the stack
made once (a 1-d index, see BRK213). For a list of modules, run all of them and pick (from
`torch.stack([m(x) for m in modules])`) when they are few and cheap, or stack their weights
(`torch.func.stack_module_state`) and gather. If the caller knows the index, let it pass a Python
int. `[1] * n` reads a tensor `n` in the same way.

Running all modules costs their compute, and gives each of them a gradient, zero where it was not
picked instead of None; optimizers with weight decay or momentum treat the two differently.
"""

import torch

from breakscope.rulekit.events import ScalarRead
from breakscope.rulekit.rule import Rule

rule = Rule(
    "BRK205",
    "list-index-by-tensor",
    dynamo=("GB0218",),
    shares=("GB0033", "GB0124"),
    unshown=("GB0218",),
    fix="unsafe",
)


@rule.on(ScalarRead, how="index")
def check(event):
    yield event.graph_break(
        f"`{event.source}` indexes a Python sequence by the tensor `{event.expression}`",
        help="index a stacked tensor instead, `torch.stack(items)[i[None]][0]`, or pass the index as a Python int",
        setting="capture_scalar_outputs" if event.is_guarded else "",
        guarded=event.is_guarded,
    )


@rule.on(ScalarRead, how="repeat")
def check_repetition(event):
    yield event.graph_break(
        f"`{event.source}` repeats a Python sequence as often as a tensor says, whose value it reads",
        help="pass the number as a Python int, or repeat a tensor",
    )


@rule.rewrite
def rewrite(node, problem, place):
    import ast

    from breakscope.rulekit.switches import read_as_number

    index = problem.node.slice if isinstance(problem.node, ast.Subscript) else problem.node
    return read_as_number(node, problem, place, index)


@rule.example(
    lambda: (torch.ones(3), torch.tensor(1)),
    lambda: (torch.ones(3), torch.tensor(2)),
    dynamo=("GB0124",),
    fixed=False,
)
def bad(x, which):
    choices = [x, x.cos(), x * 3]
    return choices[which] + 1  # BRK205


@rule.becomes
def good(x, which):
    choices = torch.stack([x, x.cos(), x * 3])
    return choices[which[None]][0] + 1


@rule.example(lambda: (torch.tensor([3, 2, 1]),), dynamo=("GB0033",), fixed=False)
def bad_repetition(sizes):
    return [1] * sizes[0]  # BRK205
