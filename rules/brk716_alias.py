"""The same tensor passed twice compiles by itself.

When two arguments are one tensor (`attend(x, x)`), Dynamo builds a graph for that case and guards
`q is k`. A call with two tensors fails the guard, and the other way round.

Give self-attention and cross-attention each their own module or method; or pass a view
(`x.view_as(x)`) so that the two are never the same object.
"""

import torch

from breakscope.rulekit.events import Varies
from breakscope.rulekit.rule import Rule

rule = Rule("BRK716", "alias-varies", kind="recompile", severity="warning", dynamo=("alias",))


@rule.on(Varies, what="alias")
def check(event):
    yield event.problem(
        f"`{event.name}` is the same tensor as another argument in some calls only, so each case is compiled",
        help="keep the two cases in two methods, or pass a view so that they are never the same tensor",
    )


def calls():
    x = torch.ones(3, 4)
    return [(x, x), (x, torch.ones(3, 4))]


@rule.example(calls=calls)
def bad(q, k):
    return q @ k.T  # BRK716
