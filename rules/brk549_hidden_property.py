"""A property that fails, and whose name a module has among its parameters, ends the graph.

nn.Module keeps parameters, buffers and submodules apart from other attributes, and does not run the
setter of a property for them: `self.scale = nn.Parameter(...)` leaves `self._scale` unset where `scale`
is a property that stores there. In eager mode Python calls the property first, meets an
AttributeError, and asks the module's `__getattr__`, which finds the parameter. Dynamo ends the graph at
the AttributeError. A number or a plain tensor goes through the setter, and is traced.

Give the parameter a name that no property of the class has, and let the property return it.
"""

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule("BRK549", "hidden-property", dynamo=("GB0088: AttributeError",), shares=("GB0088",))


@rule.on(Call, "property.__get__ of part")
def check(event):
    kept, missing = (value.value for value in event.args)
    yield event.graph_break(
        f"`{missing}` is not set, since nn.Module keeps `{kept}` without calling the property's setter",
        help=f"keep the parameter or layer as `{missing}`, which the property returns",
        certainty="likely",
    )


@rule.example(lambda: (torch.ones(4),), module=True, dynamo=("GB0088",))
def bad():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = torch.nn.Parameter(torch.ones(4))

        @property
        def scale(self):
            return self._scale  # BRK549

        @scale.setter
        def scale(self, value):
            self._scale = value

        def forward(self, x):
            return x * self.scale

    return Net()


@rule.becomes
def good():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self._scale = torch.nn.Parameter(torch.ones(4))

        @property
        def scale(self):
            return self._scale

        @scale.setter
        def scale(self, value):
            self._scale = value

        def forward(self, x):
            return x * self.scale

    return Net()
