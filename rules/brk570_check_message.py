"""A message of `torch._check` that reads a tensor or an object ends the graph.

Dynamo puts the check into the graph, and its message with it. It can take the message from a
function whose closure holds constants, sizes and dtypes. `torch._check(x.dim() == 2, lambda:
f"got {x.dim()}D")` has the tensor itself in the closure, and `f"{self.size}"` the module: there the
graph ends, whether the check holds or not (GB9158). So it does where the function was made before
the region began (GB9840).

Read what the message shows into a local name first, and let the function have that: `ndim = x.dim()`,
then `lambda: f"got {ndim}D"`. The message is the same.
"""

import ast

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule
from breakscope.rulekit.values import Function, Instance, holds_tensor, options
from breakscope.rulekit.walking import walk

rule = Rule("BRK570", "check-message", dynamo=("GB9158", "GB9840"), since="2.13")

PLACES = {
    "torch._check": 1,
    "torch._check_value": 1,
    "torch._check_type": 1,
    "torch._check_index": 1,
    "torch._check_not_implemented": 1,
    "torch._check_with": 2,
}


@rule.on(Call, set(PLACES))
def check(event):
    message = event.argument(PLACES[event.name], "message")
    if type(message) is not Function:
        return
    if message.scope is None:
        yield event.graph_break(
            f"the message of `{event.shown}` comes from a function that the region does not make",
            help="hand it a `lambda` that is written here",
        )
        return
    name = held(message)
    if name:
        yield event.graph_break(
            f"the message of `{event.shown}` holds `{name}`, which is no constant",
            help=f"read what it shows of `{name}` into a local name before, and use that in the message",
        )


def held(message):
    """The first tensor or object that a message's function has from the function around it."""
    spec = message.info.node.args
    own = {parameter.arg for parameter in (*spec.args, *spec.kwonlyargs)}
    parts = walk(message.info.node)
    read = {id(part.value) for part in parts if isinstance(part, ast.Attribute)}
    for part in parts:
        value = None
        if isinstance(part, ast.Name) and part.id not in own:
            value = message.scope.names.get(part.id)
        if value is None or (getattr(value, "origin", "") == "guess" and id(part) not in read):
            continue  # what is shown as it is may be a text
        if holds_tensor(value) or any(type(option) is Instance for option in options(value)):
            return part.id
    return ""


@rule.example(lambda: (torch.ones(4),), dynamo=("GB9158",))
def bad(x):
    y = x * 2
    torch._check(y.dim() == 1, lambda: f"got {y.dim()}D")  # BRK570
    return y + 1


@rule.becomes
def good(x):
    y = x * 2
    ndim = y.dim()
    torch._check(ndim == 1, lambda: f"got {ndim}D")
    return y + 1


def told():
    return "not one dimension"


@rule.example(lambda: (torch.ones(4),), dynamo=("GB9840",))
def bad_function(x):
    y = x * 2
    torch._check(y.dim() == 1, told)  # BRK570
    return y + 1


@rule.becomes
def good_function(x):
    y = x * 2
    torch._check(y.dim() == 1, lambda: "not one dimension")
    return y + 1
