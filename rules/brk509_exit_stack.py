"""`ExitStack.enter_context` of a torch context manager ends the graph.

Dynamo traces an `ExitStack` by its Python source and meets `__enter__` called as a plain method
there, which it refuses for its own context managers (`torch.no_grad`, `autocast`) and for
`nullcontext`. Objects of a class written in Python, and functions under
`contextlib.contextmanager`, are traced. The stack cannot be rebuilt in a resumed frame, so the rest
of the block is skipped.

Name the context managers in the `with` itself. For an optional one, choose the object first:
`with torch.autocast("cuda") if self.amp else contextlib.nullcontext():`, which Dynamo traces.

The rewrite does so where the stack is entered first and serves for nothing else. A `with` of several
makes, enters and leaves its context managers in the order in which the stack does, and passes
exceptions to them in the same way. It counts as unsafe because of what Dynamo does now that it traces
the block: with `nullcontext(tensor)` and another break inside of it, it fails (2.13).
"""

import contextlib

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule
from breakscope.rulekit.values import Instance, Sequence

rule = Rule("BRK509", "exit-stack", dynamo=("GB0007: __enter__",), since="2.11", fix="unsafe")


@rule.on(Call, "contextlib.ExitStack.enter_context", "contextlib.AsyncExitStack.enter_context")
def check(event):
    if event.args and isinstance(event.args[0], (Instance, Sequence)):
        # an object of the source, or what a function under `contextmanager` gives, is traced
        return
    yield event.graph_break(
        f"`{event.shown}` enters a context manager through a stack, which Dynamo cannot do",
        help="name it in the `with` statement; for an optional one choose it or `contextlib.nullcontext()` first",
    )


@rule.rewrite
def rewrite(node, problem, place):
    import libcst as cst

    from breakscope.rulekit.rewrites.contexts import without_stack

    return without_stack(place) if isinstance(node, cst.SimpleStatementLine) else None


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0007",))
def bad(x):
    with contextlib.ExitStack() as stack:
        stack.enter_context(torch.no_grad())  # BRK509
        y = x * 2
    return y + x


@rule.becomes
def good(x):
    with torch.no_grad():
        y = x * 2
    return y + x
