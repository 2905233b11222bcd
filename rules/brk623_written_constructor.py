"""An object whose constructor attrs or pydantic writes ends the graph, unless that one only sets fields.

Dynamo follows the `__init__` that `@dataclass` writes, and that of a plain `@attrs.define`. The one of a frozen class of
attrs sets the fields past the class's own `__setattr__`, which Dynamo does not trace. One that calls a factory, a
validator or a converter looks for them in a namespace of its own, where Dynamo does not find them: compiling fails with
an AttributeError, or the graph ends. A model of pydantic hands its fields to a validator in compiled code.

Such objects can be read, also those that are frozen. Make them before the region, or use a dataclass or a NamedTuple for
what the region makes.
"""

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

# where a class computes its fields, what is raised is no break
rule = Rule(
    "BRK623", "written-constructor", dynamo=("GB0156: __get__",), shares=("GB0156", "GB0088")
)

MADE_ANEW = "use a dataclass or a NamedTuple, or make the object outside of the compiled region"


@rule.on(Call, "object of a class that attrs completes")
def check(event):
    does = "sets its fields past its own `__setattr__`"
    if event.args[0].value == "computed":
        does = "calls factories, validators or converters"
    yield event.problem(
        f"the `__init__` that attrs wrote for `{event.receiver.info.name}` {does}, which Dynamo does not trace, so the "
        f"graph ends at `{event.shown}`",
        help=MADE_ANEW,
        dynamo=("GB0156",),
    )


@rule.on(Call, "subclass of pydantic.BaseModel", "subclass of pydantic.main.BaseModel")
def check_pydantic(event):
    yield event.problem(
        f"pydantic checks the fields of `{event.shown}` in compiled code, which Dynamo does not trace, so the graph ends "
        "here",
        help=MADE_ANEW,
        dynamo=("GB0156",),
    )


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0156",), module=True)
def bad():
    import attrs

    @attrs.frozen
    class Size:
        width: int = 1

    def forward(x):
        size = Size(2)  # BRK623
        return x * size.width

    return forward


@rule.becomes
def good():
    import dataclasses

    @dataclasses.dataclass(frozen=True)
    class Size:
        width: int = 1

    def forward(x):
        size = Size(2)
        return x * size.width

    return forward
