"""A compiled function gets another text in each pass of a loop, and compiles anew for each.

Numbers become dynamic at their second value; text never does. Dynamo guards on the whole string, so
every new name, label or formatted counter compiles again, and behind
`torch._dynamo.config.recompile_limit` (8) the function is skipped without a word.

Use the text outside of the compiled function, or pass the number that it is made of.
"""

import torch

from breakscope.rulekit.rule import Rule
from breakscope.rulekit.usage import Use

rule = Rule("BRK824", "text-argument-in-loop", kind="usage", severity="warning")


@rule.on(Use, name="()", varies="text")
def check(event):
    yield event.problem(
        f"`{event.subject}` is compiled and gets another text in each pass: each text that it reads compiles anew",
        help="use the text outside of the compiled function, or pass the number instead",
        certainty="likely",
    )


@rule.program(shows={"graphs": 5}, instead={"graphs": 2})
def bad():
    @torch.compile(backend="eager")
    def scale(x, name):
        return x * 2 if name == "block0" else x + 1  # BRK710

    for number in range(5):
        scale(torch.ones(4), f"block{number}")  # BRK824


@rule.becomes
def good():
    @torch.compile(backend="eager")
    def scale(x, number):
        return x * 2 if number == 0 else x + 1  # BRK708

    for number in range(5):
        scale(torch.ones(4), number)
