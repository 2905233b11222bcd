"""A call of a function under `torch.compiler.disable` ends the graph.

The decorator makes Dynamo leave the function alone, so the graph ends at each call of it and a
new one starts behind. In a loop, a `try` or a `with` that cannot be resumed, the whole caller is
skipped. This may be what you want: the finding says what it costs, at the place where it is
paid.

If the function was disabled because of one line, repair that line and drop the decorator: other
findings in it name it. If it is opaque (a C extension, a solver), wrap it with
`torch.library.custom_op` and a fake implementation: it then stands in the graph as one node. If
Dynamo need not look inside but the tracer of autograd may, `allow_in_graph` serves.
`torch.compiler.is_compiling()` picks a traced path where there are two.

Lightning's `self.log(...)` and `self.log_dict(...)` are such functions. The trainer compiles the steps of a module that was
handed to `torch.compile`, so each of their logs ends the graph (up to Lightning 2.6, Dynamo stops inside of it, and torch 2.12
and 2.13 raise `AttributeError: 'method' object has no attribute '__dict__'`). Compile the network that the module holds,
`self.net = torch.compile(self.net)`, and not the module.

The rewrite drops the decorator of a function of the same file. It is unsafe: whoever disabled it had
a reason, and what breaks inside then breaks in the graph.
"""

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule
from breakscope.rulekit.values import Function

HELP = "repair what made you disable it, or wrap it with `torch.library.custom_op` to keep it in the graph"
rule = Rule(
    "BRK501",
    "disabled-function",
    severity="warning",
    dynamo=("GB0098: torch.compiler.disable", "GB0099"),
    fix="unsafe",
    help=HELP,
)


@rule.on(Call, "torch.compiler.disable()")
def check(event):
    function = (
        event.receiver.info.name
        if isinstance(event.receiver, Function)
        else event.shown.partition("(")[0]
    )
    yield event.problem(
        f"`{function}` is under `torch.compiler.disable`, so the graph ends at this call",
        help=HELP,
    )


@rule.on(Call, "lightning.LightningModule.log", "lightning.LightningModule.log_dict")
def check_log(event):
    yield event.problem(
        f"`{event.shown}` of Lightning is not traced, so the graph ends at this call",
        help="compile the network that the module holds, `self.net = torch.compile(self.net)`, and not the module",
        fixable=False,
    )


@rule.rewrite
def rewrite(node, problem, place):
    import ast

    from breakscope.rulekit.rewrites.contexts import without_decorator

    name = ast.unparse(problem.node.func) if isinstance(problem.node, ast.Call) else ""
    for scope in reversed(place.parents):
        if isinstance(scope, ast.ClassDef):
            continue
        found = [n for n in scope.body if isinstance(n, ast.FunctionDef) and n.name == name]
        if found:
            alone = len(found) == 1 and found[0] not in place.parents
            return without_decorator(found[0], "torch.compiler.disable") if alone else None
    return None


@rule.example(lambda: (torch.ones(4),), module=True, dynamo=("GB0098",))
def bad():
    @torch.compiler.disable
    def scaled(x):
        return x / x.norm()

    def model(x):
        y = x * 2
        y = scaled(y)  # BRK501
        return y.relu()

    return model


@rule.becomes
def good():
    def scaled(x):
        return x / x.norm()

    def model(x):
        y = x * 2
        y = scaled(y)
        return y.relu()

    return model


@rule.example(lambda: (torch.ones(4),), module=True, dynamo=("GB0099",))
def bad_not_recursive():
    @torch.compiler.disable(recursive=False)
    def halves(y):
        return y / 2

    def forward(x):
        return halves(x * 2) + 1  # BRK501

    return forward
