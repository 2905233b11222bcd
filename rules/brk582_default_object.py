"""An object as the default of a parameter or field, taken by an object that the region makes, ends the graph.

Dynamo reads the defaults of a method by way of the object that has it, and one that was made in the region
itself is nowhere yet. A default that is a number, a text, None, an enum's member, a named tuple, a function
or a class is taken as it is; for a tensor, a module, a `functools.partial` or an object of a class of yours
Dynamo needs a place to take it from (GB0116). So do the defaults of a dataclass's fields, and a
`default_factory` that is a class of yours, a layer, or `OrderedDict`: Dynamo does not know how to call it
(GB0147). A `lambda` that makes the same object is traced, and so are `list`, `dict` and `set`. Where a
method was called by its name, the whole function is skipped (GB0092).

Give the argument in the call, let None stand for the default, or make the object outside of the region.
"""

import dataclasses

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule("BRK582", "default-object", shares=("GB0116", "GB0147", "GB0092"))


@rule.on(Call, "default of a method of an object made inside")
def check(event):
    name, by_name = (fact.value for fact in event.args)
    yield event.problem(
        f"`{event.shown}` takes an object from the default of `{name}`, and Dynamo cannot take it over for an object "
        "made in this region, so the graph ends here",
        help=f"give `{name}` in the call, let None stand for its default, or make the object outside of the compiled region",
        fixable=False,
        skips="object" if by_name else "",  # Dynamo has no name to write the method down by
    )


@rule.on(Call, "default factory of an object made inside")
def check_factory(event):
    name = event.args[0].value
    yield event.problem(
        f"`{event.shown}` makes `{name}` by a class that is its `default_factory`, which Dynamo does not know how to call, "
        "so the graph ends here",
        help=f"give `{name}` in the call, or write the factory as a lambda: `lambda: ...()`",
        fixable=False,
    )


class Missing:
    pass


MISSING = Missing()


class Options:
    rate = 2.0


class Rows:
    def __init__(self, x):
        self.x = x

    def first(self, otherwise=MISSING):
        return self.x[0] if len(self.x) else otherwise


@rule.example(lambda: (torch.ones(4),), module=True, dynamo=("GB0116",))
def bad():
    @dataclasses.dataclass
    class Output:
        logits: torch.Tensor
        hidden: object = MISSING

    class Net(torch.nn.Module):
        def forward(self, x):
            output = Output(x + 1)  # BRK582
            return output.logits * 2

    return Net()


@rule.becomes
def good():
    @dataclasses.dataclass
    class Output:
        logits: torch.Tensor
        hidden: object = MISSING

    class Net(torch.nn.Module):
        def forward(self, x):
            output = Output(x + 1, None)
            return output.logits * 2

    return Net()


@rule.example(lambda: (torch.ones(4),), module=True, dynamo=("GB0147",))
def bad_factory():
    @dataclasses.dataclass
    class Scaled:
        x: torch.Tensor
        options: Options = dataclasses.field(default_factory=Options)

    class Net(torch.nn.Module):
        def forward(self, x):
            scaled = Scaled(x + 1)  # BRK582
            return scaled.x * scaled.options.rate

    return Net()


@rule.becomes
def good_factory():
    @dataclasses.dataclass
    class Scaled:
        x: torch.Tensor
        options: Options = dataclasses.field(default_factory=lambda: Options())

    class Net(torch.nn.Module):
        def forward(self, x):
            scaled = Scaled(x + 1)
            return scaled.x * scaled.options.rate

    return Net()


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0116", "GB0092"))
def bad_method(x):
    return Rows(x + 1).first()  # BRK582


@rule.becomes
def good_method(x):
    return Rows(x + 1).first(None)
