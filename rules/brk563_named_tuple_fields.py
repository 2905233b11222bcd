"""`namedtuple(name, fields)` in the region ends the graph where the fields are no constant.

Dynamo makes the class itself when it knows the names of its fields as a constant: a text, a list or
a tuple of texts, a dict of numbers. A dict that holds tensors is none, though only its keys count,
and neither is a view (`results.keys()`) or a generator.

Make the class once at the module's top where the names are known there. Else hand over the names
alone: `namedtuple("Output", list(results))`. The class has the same fields.
"""

from collections import namedtuple

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule
from breakscope.rulekit.values import Dict, Sequence, holds_tensor

rule = Rule("BRK563", "named-tuple-fields", dynamo=("GB0201",))


@rule.on(Call, "collections.namedtuple")
def check(event):
    fields = event.argument(1, "field_names")
    is_view = type(fields) is Sequence and fields.type in ("iterator", "generator")
    if is_view or (type(fields) is Dict and holds_tensor(fields)):
        yield event.graph_break(
            f"the fields in `{event.shown}` are no constant to Dynamo",
            help="hand over their names in a list, `list(...)`, or make the class at the module's top",
        )


@rule.example(lambda: (torch.ones(4),), lambda: (torch.full((2,), torch.nan),))
def bad(x):
    results = {"mean": x.mean(), "total": x.sum()}
    output = namedtuple("Output", results.keys())(**results)  # BRK563
    return output.mean + output.total


@rule.becomes
def good(x):
    results = {"mean": x.mean(), "total": x.sum()}
    output = namedtuple("Output", list(results))(**results)
    return output.mean + output.total
