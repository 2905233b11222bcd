"""An exception class with its own `__init__`, raised and caught inside the region, ends the graph.

Dynamo traces `raise` and `except`, and exception classes without an `__init__` of their own. Where
the class has one, `super().__init__(...)` reaches the C constructor of `BaseException`, which
Dynamo does not trace; the `try` around the `raise` cannot be resumed, so the whole function
is skipped.

Do not steer with exceptions inside the region: return None or a default and test it. Or drop the
`__init__`, and let the arguments of the exception carry the data (`error.args[0]`).

The rewrite drops the call where it only hands on what `__init__` was given: Python has put these into
`args` before. It is unsafe for a call by keyword, whose `args` are then empty.
"""

import torch

from breakscope.knowledge import since
from breakscope.rulekit.events import Call, Statement
from breakscope.rulekit.rule import Rule

rule = Rule("BRK516", "exception-with-init", dynamo=("GB0006: super",), until="2.15", fix="unsafe")

BASES = tuple(
    """
    BaseException Exception ValueError RuntimeError TypeError KeyError IndexError AttributeError
    ArithmeticError LookupError OSError NotImplementedError AssertionError StopIteration
    """.split()
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
            certainty="likely" if event.caught else "possible",
        )


@rule.on(Statement, construct="raise object")
def check_raise(event):
    if event.caught and not since("2.8"):
        yield event.graph_break(
            f"torch before 2.8 does not trace `{event.shown}`, an exception of your own",
            help="return a default instead of raising",
            certainty="likely",
        )


@rule.rewrite
def rewrite(node, problem, place):
    import ast

    from breakscope.rulekit.rewrites.removing import without_statement

    function, call = place.function, problem.node
    if not isinstance(call, ast.Call) or call.keywords or function is None:
        return None
    plain = [argument.arg for argument in function.args.args[1:]]
    if [ast.unparse(argument) for argument in call.args] != plain or len(place.block) < 2:
        return None  # `args` of the exception would be others
    return without_statement(node, problem, place)


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
        def __init__(self, what):
            self.what = what

    def forward(x):
        try:
            raise Unsupported("swish")
        except Unsupported:
            return x * 2

    return forward
