"""Formatting the current exception's traceback inside the region ends the graph.

`traceback.format_exc()`, `print_exc()` or `format_exception(error)` in an `except` reads positions
from the frames of a real traceback. An exception that Dynamo raises while it traces has none, so it
stops there; and because an `except` cannot be resumed, the whole function is skipped.
(`str(error)` and `error.args` are traced.)

Keep the text short, `str(error)`, or let the exception go up to code outside the region, and log it
there.
"""

import traceback

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule("BRK412", "traceback-text", dynamo=("GB9625",), since="2.11")

FUNCTIONS = {
    f"traceback.{name}"
    for name in ("format_exc", "format_exception", "print_exception", "format_tb")
}


@rule.on(Call, FUNCTIONS)
def check(event):
    yield event.problem(
        f"`{event.shown}` reads a traceback that is not there while Dynamo traces, so the function is skipped as a whole",
        help="use `str(error)`, or log it outside the region",
        skips="try",
    )


@rule.example(lambda: (torch.ones(4),))
def bad(x):
    try:
        raise ValueError("odd size")
    except ValueError:
        text = traceback.format_exc()  # BRK412
    return x * 2, text


@rule.becomes
def good(x):
    try:
        raise ValueError("odd size")
    except ValueError as error:
        text = str(error)
    return x * 2, text
