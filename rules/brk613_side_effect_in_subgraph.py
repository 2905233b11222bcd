"""A side effect inside of a checkpoint, a tensor's hook or a Function's backward ends the graph.

`checkpoint(block, x)`, `h.register_hook(f)` and the `backward` of an autograd.Function become
subgraphs of their own, which run again, or later, in the backward pass. Dynamo therefore refuses
one that changes something outside of it: an attribute (`self.aux_loss = ...`), a list or a dict of
the code around it. The graph ends, and what is inside is not compiled. Objects that the function makes
itself may change freely, and so may buffers that are changed in place. A number, a flag or a text that
is another one afterwards ends the graph at the call of `checkpoint`.

Return the value beside the result, `return h, aux_loss`, and let the caller store it: a checkpoint
passes tuples through. A hook should return a changed gradient and nothing else; read gradients
after `backward()`.
"""

import torch
from torch.utils.checkpoint import checkpoint

from breakscope.knowledge import since
from breakscope.rulekit.events import Call, Mutate, Store
from breakscope.rulekit.rule import Rule
from breakscope.rulekit.values import is_plain_value

rule = Rule("BRK613", "side-effect-in-subgraph", dynamo=("GB0067", "GB0139", "GB4413"))

PLACES = {
    "checkpoint": "runs under `checkpoint`",
    "hook": "is a tensor's hook",
    "backward": "is a Function's backward",
}
HELP = {
    "checkpoint": "return it beside the result, and let the caller store it",
    "hook": "let the hook return a changed gradient and nothing else",
    "backward": "let it return gradients and nothing else",
}


@rule.on(Store, scope=("attribute", "global", "nonlocal", "enclosing"), within=tuple(PLACES))
def check_store(event):
    if (event.scope == "attribute" and is_plain_value(event.value)) or not _is_traced(event):
        return
    name = (
        f"{event.owner}.{event.name}" if event.owner and event.name else event.owner or event.name
    )
    yield event.graph_break(
        f"`{name}` is changed in a function that {PLACES[event.within]}",
        help=HELP[event.within],
    )


@rule.on(Call, "change of a plain value in a subgraph")
def check_plain(event):
    yield event.graph_break(
        f"`{event.args[0].value}` is set to another value in the function that runs under `checkpoint`",
        help=HELP["checkpoint"],
    )


@rule.on(Mutate, within=tuple(PLACES))
def check_container(event):
    if _is_traced(event):
        yield event.problem(
            f"`{event.shown}` changes a container from outside in a function that {PLACES[event.within]}, so the graph ends",
            help=HELP[event.within],
        )


@rule.on(Call, "torch.autograd.function.FunctionCtx.__delattr__")
def check_deleted(event):
    yield event.graph_break(
        f"`del {event.shown}` takes an attribute off the context, which Dynamo does not trace",
        help="leave it there: the context ends with the call",
    )


def _is_traced(event):
    # before that the graph ends where the hook is registered
    return event.within != "hook" or since("2.11")


@rule.example(lambda: (torch.ones(2, 4),), module=True, dynamo=("GB0067",))
def bad():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer, self.penalty = torch.nn.Linear(4, 4), 0.0

        def block(self, x):
            h = self.layer(x)
            self.penalty = h.pow(2).mean()  # BRK613
            return h.relu()

        def forward(self, x):
            y = checkpoint(self.block, x, use_reentrant=False)
            return y + self.penalty

    return Net()


@rule.becomes
def good():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(4, 4)

        def block(self, x):
            h = self.layer(x)
            return h.relu(), h.pow(2).mean()

        def forward(self, x):
            y, penalty = checkpoint(self.block, x, use_reentrant=False)
            return y + penalty

    return Net()


@rule.example(lambda: (torch.ones(2, 4),), module=True, dynamo=("GB0067",))
def bad():
    layer = torch.nn.Linear(4, 4)

    def forward(x):
        norms = []
        h = layer(x)
        h.register_hook(lambda grad: norms.append(grad.norm()))  # BRK613
        return h.relu()

    return forward


@rule.becomes
def good():
    layer = torch.nn.Linear(4, 4)

    def forward(x):
        h = layer(x)
        h.register_hook(lambda grad: grad / grad.norm())
        return h.relu()

    return forward


@rule.example(
    lambda: (torch.ones(2, 4, requires_grad=True),), module=True, dynamo=("GB0067", "GB0139")
)
def bad_context():
    class Kept(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.kept = [x]
            return x.exp()

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.kept.pop().exp()  # BRK613

    class Dropped(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.kept = x
            return x.exp()

        @staticmethod
        def backward(ctx, grad):
            x = ctx.kept
            del ctx.kept  # BRK613
            return grad * x.exp()

    def forward(x):
        return Dropped.apply(Kept.apply(x))

    return forward


@rule.becomes
def good_context():
    class Kept(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.kept = [x]
            return x.exp()

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.kept[-1].exp()

    class Dropped(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.kept = x
            return x.exp()

        @staticmethod
        def backward(ctx, grad):
            x = ctx.kept
            return grad * x.exp()

    def forward(x):
        return Dropped.apply(Kept.apply(x))

    return forward


@rule.example(lambda: (torch.ones(2, 4),), module=True, dynamo=("GB4413",))
def bad_counter():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer, self.is_warm = torch.nn.Linear(4, 4), False

        def block(self, x):
            self.is_warm = True
            return self.layer(x).relu()

        def forward(self, x):
            return checkpoint(self.block, x, use_reentrant=False)  # BRK613

    return Net()


@rule.becomes
def good_counter():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer, self.is_warm = torch.nn.Linear(4, 4), False

        def block(self, x):
            return self.layer(x).relu()

        def forward(self, x):
            self.is_warm = True
            return checkpoint(self.block, x, use_reentrant=False)

    return Net()
