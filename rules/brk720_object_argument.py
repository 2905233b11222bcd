"""An argument that is another object or type in each call compiles again.

A function, a lambda or a module as an argument is guarded by its identity: a new `lambda` in every
call is a new graph in every call. An argument that is an int once and a tensor or a float the next
time is guarded by its type, and a dict by its keys, where the region goes over it or asks for one.

Make the function once, outside the loop, and pass the same one; a `functools.partial` of one
function is compared by its parts and does not recompile. Give each argument one type.
"""

import torch

from breakscope.rulekit.events import Varies
from breakscope.rulekit.numbers.advice import OWN
from breakscope.rulekit.rule import Rule

rule = Rule(
    "BRK720",
    "object-argument",
    kind="recompile",
    severity="warning",
    dynamo=("object_identity", "type", "container_key", "other"),
)


HELP = {
    "type": "give the argument one type",
    "object": "make it once and pass the same one in every call, or choose it outside of the compiled region",
    "own": OWN,
    "constants": "pass one function, and what differs as an argument of its own",
}


@rule.on(Varies, what=("object", "type", "keys", "length"))
def check(event):
    if event.what == "keys":
        yield event.problem(
            f"`{event.name}` has other keys in some calls, and each set of keys is compiled by itself",
            help="give it the same keys in each call, with a tensor of zeros or ones for what is missing",
        )
        return
    if event.what == "length":
        yield event.problem(
            f"`{event.name}` has another length in each call{event.seen}, and each length is compiled by itself",
            help="pass a container of a fixed length, or one tensor of all that is in it",
        )
        return
    what = "another object" if event.what == "object" else "of another type"
    yield event.problem(
        f"`{event.name}` is {what} in each call{event.seen}, so each is compiled by itself",
        help=HELP[_kind(event)],
    )


def _kind(event):
    """Functions that differ in a constant only are shown with it."""
    if event.what == "object" and event.name.startswith("self."):
        return "own"
    functions = {value.partition(" with ")[0] for value in event.values if " with " in value}
    return "constants" if len(functions) == 1 else event.what


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
