"""Reading or setting a `contextvars.ContextVar` inside the region ends the graph.

Context variables hold what belongs to a task or a thread: a scale, a device mesh, a flag that a
caller sets for everything below it. `get`, `set` and `reset` are C code that Dynamo does not trace,
and the value is not guarded either, so the graph ends at each of them. torch 2.15 traces `get`.

Read the variable before the compiled call and pass the value as an argument, or set an attribute of
the module where the context variable would be set: Dynamo guards attributes.
"""

import contextvars

import torch

from breakscope.knowledge import since
from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule("BRK539", "context-variable", dynamo=("GB0156: class `ContextVar`",))

METHODS = {f"contextvars.ContextVar.{name}" for name in ("get", "set", "reset")} | {
    "contextvars.copy_context"
}


@rule.on(Call, METHODS)
def check(event):
    if not event.name.endswith(".get") or not since("2.15"):
        yield event.graph_break(
            f"`{event.shown}` reads a context variable, which Dynamo does not trace",
            help="read it before the compiled call and pass the value as an argument, or keep it as an attribute",
        )


SCALE = contextvars.ContextVar("scale", default=2.0)


@rule.example(lambda: (torch.ones(4),))
def bad(x):
    y = x + 1
    return y * SCALE.get()  # BRK539


class Settings:
    scale = 2.0


SETTINGS = Settings()


@rule.becomes
def good(x):
    y = x + 1
    return y * SETTINGS.scale
