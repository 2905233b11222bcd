"""A number or another value that an autograd.Function's class holds ends the graph where it is used.

Of a class that derives from `torch.autograd.Function` Dynamo follows the methods. What else is kept there,
`EPS = 1e-6` or `ROUNDS = 4`, it leaves open when `forward` reads `Scaled.EPS`: adding it, comparing it,
going over `range(Scaled.ROUNDS)` or handing it to a function of torch each end the graph. Asking whether it
is None does not.

Keep the value beside the class, at the top of the file, or hand it to `apply`.
"""

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule(
    "BRK620",
    "attribute-of-function",
    shares=("GB0055", "GB0059", "GB0140", "GB4841", "GB6215"),
    unshown=("GB0055", "GB0059", "GB0140"),
    since="2.13",
)


@rule.on(Call, "an attribute of an autograd.Function")
def check(event):
    yield event.graph_break(
        f"Dynamo does not know what `{event.shown}` of an autograd.Function is",
        help="keep it outside of the class, as a constant of the file",
    )


@rule.example(
    lambda: (torch.ones(4, requires_grad=True),), module=True, dynamo=("GB4841", "GB6215")
)
def bad():
    class Scaled(torch.autograd.Function):
        EPS, ROUNDS = 1e-6, 2

        @staticmethod
        def forward(ctx, x):
            return (x + Scaled.EPS).sqrt()  # BRK620

        @staticmethod
        def backward(ctx, received):
            return received

    def forward(x):
        if Scaled.ROUNDS > 1:  # BRK620
            x = x + 1
        return Scaled.apply(x) + 1

    return forward


@rule.becomes
def good():
    eps, rounds = 1e-6, 2

    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return (x + eps).sqrt()

        @staticmethod
        def backward(ctx, received):
            return received

    def forward(x):
        if rounds > 1:
            x = x + 1
        return Scaled.apply(x) + 1

    return forward
