"""`x.as_subclass(...)` of a tensor that is of a subclass already ends the graph, and so does setting `x.__class__`.

Dynamo gives a plain tensor the class, and then traces its methods. What is of a subclass of
`torch.Tensor` it cannot give one (GB0117), not even its own: what torch computes of such a tensor is of
its class too, `torch.roll(points, 1)`, `points * 2`, or an embedding whose weight is one.

Leave the call out where the result is of that class anyway. Otherwise compute with the plain tensor up to
there, and give it the class once; a weight that was made of such a tensor is made plain in `__init__`,
`nn.Parameter(points.as_subclass(torch.Tensor))`.

The class itself cannot be set (GB0058): write `x = x.as_subclass(Points)` for `x.__class__ = Points`, and hand the
result on, as other names of the tensor keep the plain one.
"""

import torch

from breakscope.rulekit.events import Call, Store
from breakscope.rulekit.rule import Rule
from breakscope.rulekit.values import External, Tensor

rule = Rule("BRK567", "change-tensor-class", dynamo=("GB0117: as_subclass",), shares=("GB0058",))


@rule.on(Call, "Tensor.as_subclass")
def check(event):
    if type(event.receiver) is not Tensor or event.receiver.kind != "subclass":
        return
    if not isinstance(event.argument(0, "cls"), External):  # torch's own it refuses of any tensor
        yield event.graph_break(
            f"`{event.shown}` gives a class to a tensor that is of a subclass of torch.Tensor already",
            help="leave the call out, as what is computed of it is of its class; or give the class to a plain tensor",
            certainty="likely",
        )


@rule.on(Store, scope="tensor")
def check_store(event):
    if event.name == "__class__":
        yield event.graph_break(
            f"`{event.owner}.__class__` of a tensor is set, and Dynamo cannot set it",
            help=f"make another tensor of the class, `{event.owner} = {event.owner}.as_subclass(...)`, and hand that on",
        )


class Points(torch.Tensor):
    def moved(self, by):
        return torch.add(self, by)


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0117",))
def bad(x):
    points = x.as_subclass(Points).moved(1)
    return torch.roll(points, 1).as_subclass(Points)  # BRK567


@rule.becomes
def good(x):
    points = x.as_subclass(Points).moved(1)
    return torch.roll(points, 1)


class Features(torch.Tensor):
    pass


@rule.example(lambda: (torch.ones(2, dtype=torch.long),), module=True, dynamo=("GB0117",))
def bad_weight():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            features = torch.zeros(4, 2).as_subclass(Features)
            self.weight = torch.nn.Parameter(features)

        def forward(self, x):
            return torch.nn.functional.embedding(x, self.weight).as_subclass(Features)  # BRK567

    return Net()


@rule.becomes
def good_weight():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            features = torch.zeros(4, 2)
            self.weight = torch.nn.Parameter(features)

        def forward(self, x):
            return torch.nn.functional.embedding(x, self.weight).as_subclass(Features)

    return Net()


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0058",))
def bad_set(x):
    points = x * 2
    points.__class__ = Points  # BRK567
    return points.moved(1)


@rule.becomes
def good_set(x):
    points = x * 2
    points = points.as_subclass(Points)
    return points.moved(1)
