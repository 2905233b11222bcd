"""An autograd.Function that is given the same tensor twice ends the graph.

`Attend.apply(x, x, x)` passes one tensor as several inputs. Dynamo lifts the inputs of `apply` into
a subgraph of its own by identity and cannot distinguish the gradients of the places, so it ends the
graph there if the tensor needs one. What counts is the tensor and not the name: `q = k = x` is the
same tensor, `x.view_as(x)` is another one.

Give every place a tensor of its own: `Attend.apply(x, x.view_as(x))` costs no memory and adds the
gradients as before. The rewrite counts as unsafe because the function can see two objects where it
saw one (`a is b`), and gradients of three or more places may be added in another order.
"""

import ast

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule("BRK611", "same-tensor-twice", dynamo=("GB6297",), fix="unsafe", since="2.13")


@rule.on(Call, "torch.autograd.Function.apply")
def check(event):
    places = getattr(event.node, "args", ())
    names = [a.id for a, v in zip(places, event.args) if isinstance(a, ast.Name) and v.is_tensor]
    if all(value.requires_grad is False for value in event.args if value.is_tensor):
        return
    twice = next((name for i, name in enumerate(names) if name in names[:i]), "")
    if twice:
        yield event.graph_break(
            f"`{event.shown}` is given `{twice}` twice",
            help=f"write `{twice}.view_as({twice})` for the second one",
            certainty="likely",
        )


@rule.rewrite
def rewrite(node, problem):
    import libcst as cst

    from breakscope.rulekit import rewriting as rw

    calls = (
        part for part in rw.walk(node) if isinstance(part, cst.Call) and rw.same(part, problem.node)
    )
    call, seen, given = next(calls, None), set(), []
    if call is None:
        return None
    for place in call.args:
        name = rw.code(place.value)
        again = isinstance(place.value, cst.Name) and name in seen
        given.append(
            place.with_changes(value=cst.parse_expression(f"{name}.view_as({name})"))
            if again
            else place
        )
        seen.add(name)
    return rw.swap(node, call, rw.code(call.with_changes(args=given)))


class Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a * b

    @staticmethod
    def backward(ctx, grad):
        a, b = ctx.saved_tensors
        return grad * b, grad * a


@rule.example(
    lambda: (torch.ones(4, requires_grad=True),),
    lambda: (torch.full((4,), torch.nan, requires_grad=True),),
    lambda: (torch.empty(0, requires_grad=True),),
)
def bad(x):
    # x squared
    return Product.apply(x, x) + 1  # BRK611


@rule.becomes
def good(x):
    # x squared
    return Product.apply(x, x.view_as(x)) + 1
