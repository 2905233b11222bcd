"""Trying to import a module that is not installed ends the graph.

`try: import flash_attn` inside a function that is compiled: an import that works is traced, one
that fails ends the graph (from torch 2.11 on), and because it stands in a `try`, the whole function
is skipped. The finding speaks of the environment that the code runs in (`--python`); where the
module is installed there, nothing breaks, and where that environment is not known, nothing is said.

Try the import once, at the module's top, and keep the answer: `HAS_FLASH =
importlib.util.find_spec("flash_attn") is not None`. Dynamo takes it for a constant and follows only
the path that is there.
"""

import importlib.util

import torch

from breakscope.rulekit.events import Statement
from breakscope.rulekit.rule import Rule

rule = Rule("BRK538", "missing-module", dynamo=("GB0069",), since="2.11")


@rule.on(Statement, construct="import", caught=True)
def check(event):
    root = event.name.partition(".")[0]
    # `if find_spec("name") is not None: import name` imports only what is there
    if event.missing and f"find_spec('{root}" not in event.condition.replace('"', "'"):
        yield event.problem(
            f"`{root}` is not installed here: the import that fails ends the graph, and the function runs without one",
            help="try the import once, at the module's top, and keep the answer as a constant",
            certainty="likely",
            skips="try",
        )


@rule.example(lambda: (torch.ones(4),))
def bad(x):
    try:
        import no_such_attention as attention  # BRK538
    except ImportError:
        attention = torch
    return attention.relu(x) + 1


ATTENTION = torch if importlib.util.find_spec("no_such_attention") is None else None


@rule.becomes
def good(x):
    return ATTENTION.relu(x) + 1
