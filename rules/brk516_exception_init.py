"""An exception class with its own `__init__`, raised and caught inside the region, ends the graph.

Dynamo traces `raise` and `except`, and exception classes without an `__init__` of their own. Where
the class has one, `super().__init__(...)` reaches the C constructor of `BaseException`, which
Dynamo does not trace; the `try` around the `raise` cannot be resumed, so the whole function runs
without a graph.

Do not steer with exceptions inside the region: return None or a default and test it. Or drop the
`__init__`, and let the arguments of the exception carry the data (`error.args[0]`).
"""

import torch

from breakscope.knowledge import since
from breakscope.rulekit.events import Call, Statement
from breakscope.rulekit.rule import Rule

rule = Rule("BRK516", "exception-with-init", dynamo=("GB0006: super",), until="2.15")

BASES = (
    "BaseException",
    "Exception",
    "ValueError",
    "RuntimeError",
    "TypeError",
    "KeyError",
    "IndexError",
    "AttributeError",
    "ArithmeticError",
    "LookupError",
    "OSError",
    "NotImplementedError",
    "AssertionError",
    "StopIteration",
)


@rule.on(Call, "super().method")
def check(event):
    method, *bases = event.args
    if (
        since("2.8")
        and method.is_const
        and method.value == "__init__"
        and any(base.name in BASES for base in bases)
    ):
        yield event.graph_break(
            f"`{event.shown}` builds an exception in the region, which Dynamo does not trace",
            help="return a default instead of raising, or drop the exception's own `__init__` and read its `args`",
            certainty="likely",
        )


@rule.on(Statement, construct="raise object")
def check_raise(event):
    if event.caught and not since("2.8"):
        yield event.graph_break(
            f"torch before 2.8 does not trace `{event.shown}`, an exception of your own",
            help="return a default instead of raising",
            certainty="likely",
        )


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0006",), module=True)
def bad():
    class Unsupported(ValueError):
        def __init__(self, what):
            super().__init__(what)  # BRK516
            self.what = what

    def forward(x):
        try:
            raise Unsupported("swish")
        except Unsupported:
            return x * 2

    return forward


@rule.becomes
def good():
    class Unsupported(ValueError):
        pass

    def forward(x):
        try:
            raise Unsupported("swish")
        except Unsupported:
            return x * 2

    return forward
