"""A few methods of Python's own types end the graph.

Dynamo has its own version of nearly every method of lists, dicts, sets, deques and strings. It has
none for `deque.rotate` (until torch 2.15), for `str.maketrans`, for `Counter.most_common`, and for
`string.Template`, so the graph ends at these, also where only constants are involved; a method that
Python would have to call again behind the break takes the whole function with it.

Write the same with what is traced: `d.append(d.popleft())` rotates a deque, `text.replace(...)`
replaces a table of characters, an f-string replaces a template, and `sorted(counts.items(),
key=lambda item: -item[1])` ranks counts.
"""

from collections import Counter, deque

import torch

from breakscope.knowledge import since
from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule(
    "BRK542",
    "container-method-in-c",
    dynamo=(r"GB0156: method `(rotate|maketrans)`",),
    shares=("GB0059", "GB0092", "GB0299"),
    unshown=("GB0299",),
)

METHODS = {
    "deque.rotate",
    "str.maketrans",
    "collections.Counter.most_common",
    "string.Template.substitute",
    "string.Template.safe_substitute",
}


@rule.on(Call, METHODS)
def check(event):
    if event.name != "deque.rotate" or not since("2.15"):
        yield event.problem(
            f"Dynamo has no version of `{event.name.removeprefix('collections.')}`, so the graph ends at `{event.shown}`",
            help="write it with methods that are traced, or do it once in `__init__`",
        )


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0156",))
def bad(x):
    recent = deque([x, x * 2])
    recent.rotate(1)  # BRK542
    return recent[0] - recent[1]


@rule.becomes
def good(x):
    recent = deque([x, x * 2])
    recent.appendleft(recent.pop())
    return recent[0] - recent[1]


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0059", "GB0092"))
def bad(x):
    counts = Counter(["a", "b", "a"])
    name, number = counts.most_common(1)[0]  # BRK542
    return x * number


@rule.becomes
def good(x):
    counts = Counter(["a", "b", "a"])
    name, number = sorted(counts.items(), key=lambda item: -item[1])[0]
    return x * number
