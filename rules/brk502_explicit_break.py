"""`torch._dynamo.graph_break()` ends the graph, as it says.

The call is a tool for bisecting and for keeping two halves of a model in separate graphs. Left in a
model it costs a break in every call, and inside a loop, a `try` or a `with` that cannot be resumed,
the whole function.

Remove it when the search is over; the rewrite does. That is safe: the call does nothing in eager
mode and nothing but end the graph when compiled. To keep a part out of the graph on purpose, put the
part into its own function under `torch.compiler.disable(reason="...")`, which says so by name.

Where a function of the file catches exceptions the rewrite counts as unsafe. What a break kept out of the
graph is traced without it, and an error that torch raises while Dynamo traces (a shape that does not fit)
goes past an `except` of the traced code that catches it in eager mode.
"""

import ast

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

# where torch has the call in its own code, nothing was left in the model
rule = Rule(
    "BRK502", "explicit-graph-break", dynamo=(r"GB0025: User-inserted(?!.* in torch/)",), fix="safe"
)


@rule.on(Call, "torch._dynamo.graph_break", "torch._dynamo.decorators.graph_break")
def check(event):
    yield event.problem(
        "`torch._dynamo.graph_break()` was left in the model and ends the graph in every call",
        help="remove it",
    )


@rule.rewrite
def rewrite(node, problem, place):
    from breakscope.rulekit.patch import Patch
    from breakscope.rulekit.rewrites.removing import without_statement

    given = [*problem.node.args, *(keyword.value for keyword in problem.node.keywords)]
    if not all(isinstance(value, ast.Constant) for value in given):
        return None
    made = without_statement(node, problem, place)
    if made is None or not _catches(place.tree):
        return made
    return Patch(made, changes=UNCAUGHT, safety="unsafe")


UNCAUGHT = "an error that torch raises while Dynamo traces goes past the `except` that catches it in eager mode"


def _catches(tree):
    """True when a function of the file has an `except`."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return any(
        isinstance(part, ast.ExceptHandler)
        for function in ast.walk(tree)
        if isinstance(function, functions)
        for part in ast.walk(function)
    )


@rule.example(lambda: (torch.ones(4),))
def bad(x):
    y = x * 2
    torch._dynamo.graph_break()  # BRK502
    return y.relu()


@rule.becomes
def good(x):
    y = x * 2
    return y.relu()
