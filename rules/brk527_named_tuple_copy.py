"""`_replace` of a named tuple ends the graph in torch before 2.9.

The methods that `collections.namedtuple` writes into a class count as part of the module
`collections`, which Dynamo before 2.9 skips. The named tuple itself, its fields and its unpacking
are traced.

Before 2.8 the same holds for `dataclasses.replace` of an object that the region made.

Build the new value by its class: `State(h=h, c=c, step=state.step + 1)`.
"""

from typing import NamedTuple

import torch

from breakscope.knowledge import since
from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule("BRK527", "named-tuple-copy", dynamo=("GB0008: _replace",), until="2.9")


@rule.on(Call, "NamedTuple._replace", "NamedTuple._asdict")
def check(event):
    yield event.graph_break(
        f"Dynamo does not trace `{event.shown}`",
        help="build the new tuple by calling its class",
    )


@rule.on(Call, "dataclasses.replace")
def check_dataclass(event):
    if not since("2.8"):
        yield event.graph_break(
            f"Dynamo does not trace `{event.shown}` of an object made in the region",
            help="build the new object by calling its class",
            certainty="likely",
        )


class State(NamedTuple):
    value: torch.Tensor
    step: int = 0


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0008",))
def bad(x):
    state = State(x * 2)
    state = state._replace(step=1)  # BRK527
    return state.value + state.step


@rule.becomes
def good(x):
    state = State(x * 2)
    state = State(state.value, 1)
    return state.value + state.step
