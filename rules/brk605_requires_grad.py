"""Changing `requires_grad` inside the region ends the graph.

`x.requires_grad_()` on an input that does not require grad, `requires_grad_(False)` on a parameter,
`x.requires_grad = True`, and `torch.ones(n,
requires_grad=True)` make leaves of autograd's graph in the middle of the capture, which AOTAutograd
cannot express. A call that changes nothing, such as `x.requires_grad_(False)` on an input that requires
none, is traced. On an intermediate tensor `requires_grad_()` itself is traced, but the region ends
where that tensor, or something computed from it, is returned.

A parameter of a class of its own (`class Weight(nn.Parameter)`) that is made inside of the region is such a leaf, too.

`torch.func.stack_module_state` marks what it stacks, so that the graph ends where something computed from it
leaves it.

Mark parameters and inputs outside the region. To freeze a part, use `y.detach()` or
`torch.no_grad()` in the forward pass. If the mark is there for `torch.autograd.grad` a few lines
below, write both as one `torch.func.grad`.

The rewrite takes the mark away from a tensor that the function makes itself and whose gradient nobody
reads: it is not returned or stored, and no `.grad`, hook or `torch.autograd.grad` follows. It is unsafe because
the result needs no gradient any more where only the mark gave it one, and because `h.requires_grad = True`
raises where `h` comes from a tensor that needs a gradient.
"""

import ast

import torch

from breakscope.rulekit.events import Call, Store
from breakscope.rulekit.rule import Rule
from breakscope.rulekit.values import FALSE, TRUE, Py, Tensor

rule = Rule(
    "BRK605",
    "requires-grad",
    dynamo=("GB0125", "GB0206: requires_grad", "GB8985", "GB0225"),
    fix="unsafe",
)

FACTORIES = {
    f"torch.{name}"
    for name in """
        ones zeros empty full rand randn tensor arange linspace ones_like zeros_like rand_like
        randn_like full_like empty_like eye
        """.split()
}
TRAINING = Py("bool", "config")  # `self.training`, or a switch
HELP = "mark it outside the region; for a gradient inside use `torch.func.grad`, to freeze use `detach()`"


@rule.on(Store, scope="tensor", name="requires_grad")
def check_store(event):
    yield event.graph_break(f"`{event.owner}.requires_grad` is set inside the region", help=HELP)


@rule.on(Call, "Tensor.requires_grad_")
def check_call(event):
    tensor, wanted = event.receiver, event.argument(0, "requires_grad")
    off = wanted is not None and wanted.is_const and not wanted.value
    if isinstance(tensor, Tensor) and (
        tensor.is_argument or tensor.kind in ("parameter", "buffer")
    ):
        has = tensor.kind == "parameter" if tensor.requires_grad is None else tensor.requires_grad
        if bool(has) is off:  # else nothing changes
            yield event.graph_break(f"`{event.shown}` changes an input of the graph", help=HELP)
    elif not off and event.within != "backward":  # a Function's backward may return it
        is_copied = any(getattr(arg, "attr", "") == "requires_grad" for arg in event.node.args)
        has_graph = isinstance(tensor, Tensor) and tensor.requires_grad  # else nothing changes
        yield event.problem(
            f"`{event.shown}` makes a leaf inside the region; where it leaves a graph, that graph ends",
            help=HELP,
            certainty="possible" if is_copied or has_graph else "likely",
            late=True,
        )


@rule.on(Call, FACTORIES)
def check_made(event):
    wanted = event.kwargs.get("requires_grad")
    if wanted is None or wanted.is_none or wanted == FALSE:
        return
    named = (k.value for k in event.node.keywords if k.arg == "requires_grad")
    certainty = "certain" if wanted == TRUE else "likely" if wanted == TRAINING else "possible"
    yield event.graph_break(
        f"`{event.shown}` makes a leaf inside the region",
        help=HELP,
        certainty=certainty,
        condition="" if wanted.is_const else "".join(map(ast.unparse, named)),
    )


@rule.on(Call, "torch.Tensor._make_subclass", "torch.nn.Parameter.__new__")
def check_subclass(event):
    is_parameter = event.name.endswith("__new__")
    wanted = event.argument(2, "requires_grad" if is_parameter else "require_grad")
    if wanted == TRUE or (wanted is None and is_parameter):
        yield event.graph_break(
            f"`{event.shown}` makes a leaf of a class of its own inside the region",
            help="make it outside the region, and pass it in",
            fixable=False,
        )


@rule.on(Call, "torch.func.stack_module_state", "functorch.stack_module_state")
def check_stacked(event):
    yield event.problem(
        f"`{event.shown}` makes leaves of stacked parameters; where they leave a graph, that graph ends",
        help="stack them once, outside the region, and pass them in",
        certainty="likely",
        fixable=False,
        late=True,
    )


@rule.rewrite
def rewrite(node, problem, place):
    from breakscope.rulekit.rewrites.leaf_mark import without_mark

    return without_mark(node, place)


@rule.example(lambda: (torch.ones(4),), equal=False, dynamo=("GB0206",))
def bad(x):
    h = x * 2
    h.requires_grad = True  # BRK605
    return h.sin()


@rule.becomes
def good(x):
    h = x * 2
    return h.sin()


@rule.example(lambda: (torch.ones(4),), equal=False, dynamo=("GB8985",))
def bad(x):
    leaf = x.detach().requires_grad_()  # BRK605
    return leaf * leaf


@rule.becomes
def good(x):
    leaf = x.detach()
    return leaf * leaf


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0125",))
def bad(x):
    y = x.sin()
    x.requires_grad_()  # BRK605
    return y * 2


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0225",))
def bad(x):
    offset = torch.zeros(4, requires_grad=True)  # BRK605
    return x + offset
