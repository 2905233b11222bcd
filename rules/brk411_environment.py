"""Setting an environment variable inside the region ends the graph.

`os.environ["STEP"] = "1"`, `del os.environ[...]`, `os.environ.update(...)` and `os.putenv` change
the process through system calls that Dynamo does not trace. Reading a variable is traced:
`os.environ.get("DEBUG")` is a constant with a guard, so a variable that changes between calls also
compiles the region again.

Set variables where the program starts, before torch is imported: most libraries read theirs once.
State that changes from step to step belongs into an argument or an attribute.
"""

import os

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule("BRK411", "environment", dynamo=(r"GB0007: builtin `(posix|nt)\.(un|put)\w*env",))

CHANGES = {
    f"os.environ.{name}" for name in ("__setitem__", "__delitem__", "update", "setdefault", "clear")
}


@rule.on(Call, CHANGES, "os.putenv", "os.unsetenv")
def check(event):
    yield event.graph_break(
        f"`{event.shown}` changes the environment of the process",
        help="set it where the program starts, or pass the value as an argument",
    )


@rule.example(lambda: (torch.ones(4),))
def bad(x):
    y = x * 2
    os.environ["LAST_STEP"] = "forward"  # BRK411
    return y + 1


@rule.becomes
def good(x):
    y = x * 2
    return y + 1
