"""`torch.autograd.Variable(x)` inside the region ends the graph.

`Variable` has been `Tensor` since torch 0.4. What is left of it is a class written in C whose call
gives a tensor that shares the memory of `x` and is cut from its history. Dynamo does not trace the
call (GB0007), and where it stands in an expression the whole function may be skipped.

Write the tensor itself: a buffer or a new tensor needs no wrapping. Where the history is to be cut,
write `x.detach()`.

The rewrite takes the wrapping from what torch has just made, and detaches other tensors, which is what
`Variable` does. It leaves `requires_grad=True` alone: mark such a tensor outside of the region.
"""

import torch
from torch.autograd import Variable

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule
from breakscope.rulekit.values import Tensor

rule = Rule("BRK547", "variable", dynamo=(r"GB0007: _LegacyVariableBase",), fix="safe")

MAKES = frozenset(
    "arange empty eye from_numpy full linspace ones rand randint randn tensor zeros".split()
)
# with several arguments these are sizes: one may be a tensor
MAKES_OF_SIZES = frozenset(
    "Tensor DoubleTensor FloatTensor HalfTensor IntTensor LongTensor".split()
)


@rule.on(Call, "torch.autograd.Variable")
def check(event):
    yield event.problem(
        f"Dynamo does not trace the old `Variable` class, so the graph ends at `{event.shown}`",
        help="drop it: a tensor needs no wrapping; `x.detach()` cuts the history",
        fixable=len(event.args) == 1 and type(event.args[0]) is Tensor and event.args[0].kind == "",
    )


@rule.rewrite
def rewrite(node, problem):
    import libcst as cst

    from breakscope.rulekit import rewriting as rw

    found = rw.find_in_line(node, problem)
    if not isinstance(found, cst.Call) or not found.args or found.args[0].keyword:
        return None
    given, *options = found.args
    if any(
        rw.code(o.keyword or o) != "requires_grad" or rw.code(o.value) != "False" for o in options
    ):
        return None
    return rw.swap(node, found, _detached(given.value))


def _detached(value):
    """The source of a tensor that is cut from its history: as it is, where torch has just made it."""
    import libcst as cst

    from breakscope.rulekit import rewriting as rw

    called = rw.dotted(value.func) if isinstance(value, cst.Call) else ""
    name = called.removeprefix("torch.") if called.startswith("torch.") else ""
    is_made = name in MAKES or (name in MAKES_OF_SIZES and len(value.args) > 1)
    if is_made and "requires_grad" not in rw.code(value):
        return rw.code(value)
    return f"{rw.operand(value)}.detach()"


@rule.example(lambda: (torch.ones(4),))
def bad(x):
    state = Variable(torch.zeros(4))  # BRK547
    return x + state


@rule.becomes
def good(x):
    state = torch.zeros(4)
    return x + state


@rule.example(lambda: (torch.ones(4), torch.ones(4, requires_grad=True)))
def bad_history(x, w):
    weighted = x * w
    state = Variable(weighted * 2, requires_grad=False)  # BRK547
    return weighted + state


@rule.becomes
def good_history(x, w):
    weighted = x * w
    state = (weighted * 2).detach()
    return weighted + state
