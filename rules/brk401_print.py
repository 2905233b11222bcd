"""`print` ends the graph.

Text must appear when the line runs, so Dynamo stops the graph, calls `print` and starts a new graph
behind it. Printing a tensor also waits for the device and copies the values to the host. Inside a
loop, a `try` or a `with` that Dynamo cannot resume, the whole function is skipped.

Guard the line: `torch.compiler.is_compiling()` is a constant True while Dynamo traces, so the line
costs nothing there and prints as before in eager mode. The rewrite counts as unsafe because the
compiled model no longer prints. If the text matters in a compiled run, return the value and print it outside the region, or
set `torch._dynamo.config.reorderable_logging_functions.add(print)`, which moves the call behind the
graph.

The same holds for `pprint.pprint` and `sys.stdout.write`. A constant `if self.verbose:` that is
False costs nothing.
"""

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule(
    "BRK401",
    "print",
    fix="unsafe",
    dynamo=("GB0059: operator `print`", "GB0207: key", "GB0156: method `(write|flush|writelines)`"),
)

PRINTS = {"print", "pprint.pprint", "pprint.pp"}
STREAMS = {
    f"sys.{stream}.{method}"
    for stream in ("stdout", "stderr")
    for method in ("write", "flush", "writelines")
}


@rule.on(Call, PRINTS, STREAMS)
def check(event):
    yield event.graph_break(
        f"`{event.shown}` writes text while the model runs",
        help="put it under `if not torch.compiler.is_compiling():`, or print outside the compiled region",
    )


@rule.rewrite
def rewrite(node, problem):
    from breakscope.rulekit.guarding import skip_while_compiling

    return skip_while_compiling(node, problem)


@rule.example(lambda: (torch.ones(4),), lambda: (torch.full((4,), torch.nan),), dynamo=("GB0059",))
def bad(x):
    y = x * 2
    # how large is it?
    print("norm", y.norm())  # BRK401
    return y + 1


@rule.becomes
def good(x):
    y = x * 2
    # how large is it?
    if not torch.compiler.is_compiling():
        print("norm", y.norm())
    return y + 1
