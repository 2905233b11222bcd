"""An argument that is another object or type in each call compiles again.

A function, a lambda or a module as an argument is guarded by its identity: a new `lambda` in every
call is a new graph in every call. An argument that is an int once and a tensor or a float the next
time is guarded by its type, and a dict by its keys, where the region goes over it or asks for one.

Make the function once, outside the loop, and pass the same one; a `functools.partial` of one
function is compared by its parts and does not recompile. Give each argument one type.
"""

import re

import torch

from breakscope.rulekit.events import Varies
from breakscope.rulekit.rule import Rule

rule = Rule(
    "BRK720",
    "object-argument",
    kind="recompile",
    severity="warning",
    dynamo=("object_identity", "type", "container_key", "other"),
)


LENGTH = re.compile(r"(list|tuple|set|deque) of \d+")


@rule.on(Varies, what=("object", "type", "keys"))
def check(event):
    if event.what == "keys":
        yield event.problem(
            f"`{event.name}` has other keys in some calls, and each set of keys is compiled by itself",
            help="give it the same keys in each call, with a tensor of zeros or ones for what is missing",
        )
        return
    if event.values and all(LENGTH.fullmatch(value) for value in event.values):
        yield event.problem(
            f"`{event.name}` has another length in each call{event.seen}, and each length is compiled by itself",
            help="pass a container of a fixed length, or one tensor of all that is in it",
        )
        return
    what = "another object" if event.what == "object" else "of another type"
    yield event.problem(
        f"`{event.name}` is {what} in each call{event.seen}, so each is compiled by itself",
        help="make it once outside the loop, and give the argument one type",
    )


def calls():
    return [(torch.ones(4), torch.sin), (torch.ones(4), torch.cos)]


@rule.example(calls=calls, dynamo=("object_identity",))
def bad(x, function):
    return function(x) + 1  # BRK720


def batches():
    return [({"x": torch.ones(4)},), ({"x": torch.ones(4), "mask": torch.ones(4)},)]


@rule.example(calls=batches, dynamo=("container_key",))
def bad_keys(batch):
    y = batch["x"] * 2  # BRK720
    if "mask" in batch:
        y = y * batch["mask"]
    return y
