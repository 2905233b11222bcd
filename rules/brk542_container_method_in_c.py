"""A few methods of Python's own types end the graph.

Dynamo has its own version of nearly every method of lists, dicts, sets, deques and strings. It has
none for `deque.rotate` (until torch 2.15), for the methods of bytes but `decode`, for a list's methods called
on the class (`list.append(items, x)`), for `int.to_bytes`, for `isdisjoint` of a dict's keys or items,
for `str.maketrans`, for `Counter.most_common`, and for `string.Template`, so the graph ends at these, also where only constants are involved; a method that
Python would have to call again behind the break takes the whole function with it. Nor does it trace what
changes a list that `split`, `rsplit` or `splitlines` of a text gave, or a slice of it: Dynamo has computed that
list, and keeps it as a constant.

Write the same with what is traced: `list(text.split())` is a list like any other, `d.append(d.popleft())` rotates a deque, `text.replace(...)`
replaces a table of characters, an f-string replaces a template, and `sorted(counts.items(),
key=lambda item: -item[1])` ranks counts.
"""

import ast
from collections import Counter, deque

import torch

from breakscope.knowledge import since
from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule(
    "BRK542",
    "container-method-in-c",
    dynamo=(
        r"GB0156: method `(rotate|maketrans|to_bytes|isdisjoint)`",
        r"GB0156: of class `(bytes|list)`",
        r"GB7786: on 'list'",
    ),
    shares=("GB0059", "GB0092", "GB0156", "GB0299", "GB7786"),
    unshown=("GB0299",),
)

METHODS = {
    "deque.rotate",
    "int.to_bytes",
    "str.maketrans",
    "collections.Counter.most_common",
    "string.Template.substitute",
    "string.Template.safe_substitute",
}
# those of bytes but for `decode`, and those of lists that are called on the class
BYTES = {f"bytes.{name}" for name in dir(bytes) if name[0] != "_" and name not in ("decode", "hex")}
UNBOUND = {f"list.{name}" for name in dir(list) if name[0] != "_"}


@rule.on(Call, BYTES)
def check_bytes(event):
    yield event.problem(
        f"Dynamo traces no methods of bytes but `decode`, so the graph ends at `{event.shown}`",
        help="decode the bytes first, or do it once in `__init__`",
    )


@rule.on(Call, UNBOUND)
def check_unbound(event):
    if isinstance(event.node, ast.Call) and ast.unparse(event.node.func) == event.name:
        method = event.name.rpartition(".")[2]
        yield event.problem(
            f"Dynamo does not trace a list's method called on the class, so the graph ends at `{event.shown}`",
            help=f"call the method of the list itself: `items.{method}(...)`",
        )


@rule.on(Call, "iterator.isdisjoint")
def check_view(event):
    yield event.problem(
        f"Dynamo does not trace `isdisjoint` of a dict's keys or items, so the graph ends at `{event.shown}`",
        help="combine them: `not (d.keys() & other)`",
    )


@rule.on(Call, "change of a constant's list")
def check_split(event):
    method = event.args[0].value
    yield event.problem(
        "Dynamo keeps the list that `split` of a text gives as a constant, and traces nothing that changes it, so the "
        f"graph ends at `{event.shown}`",
        help="make a list of it where it is made: `list(text.split(...))`",
        dynamo=("GB7786",) if method.endswith("item__") else ("GB0156",),
        skips="call" if method == "__delitem__" else "",
        fixable=False,
    )


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


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0156",))
def bad_bytes(x):
    y = x * 2
    name = b"ab".upper()  # BRK542
    return y + len(name)


@rule.becomes
def good_bytes(x):
    y = x * 2
    name = b"ab".decode().upper()
    return y + len(name)


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0156",))
def bad_unbound(x):
    items = [x]
    list.append(items, x * 2)  # BRK542
    return items[0] - items[1]


@rule.becomes
def good_unbound(x):
    items = [x]
    items.append(x * 2)
    return items[0] - items[1]


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0156",))
def bad_view(x):
    parts = {"a": x, "b": x * 2}
    if parts.keys().isdisjoint({"c"}):  # BRK542
        x = x + 1
    return x * parts["b"]


@rule.becomes
def good_view(x):
    parts = {"a": x, "b": x * 2}
    if not (parts.keys() & {"c"}):
        x = x + 1
    return x * parts["b"]


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0156",))
def bad_number(x):
    y = x * 2
    code = (258).to_bytes(2, "big")  # BRK542
    return y + code[1]


@rule.becomes
def good_number(x):
    y = x * 2
    code = [(258 >> 8) & 255, 258 & 255]
    return y + code[1]


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0156",))
def bad_split(x):
    names = "first,second".split(",")
    names.append("third")  # BRK542
    return x * len(names)


@rule.becomes
def good_split(x):
    names = list("first,second".split(","))
    names.append("third")
    return x * len(names)


@rule.example(lambda: (torch.ones(4),), dynamo=("GB7786",))
def bad_split_item(x):
    names = "first second".split()
    names[0] = "third"  # BRK542
    return x * len(names)


@rule.becomes
def good_split_item(x):
    names = list("first second".split())
    names[0] = "third"
    return x * len(names)
