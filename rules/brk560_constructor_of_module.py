"""The `__init__` of a module that is made inside the region cannot be traced by itself.

Dynamo traces the making of a module of your own class together with the function that makes it.
Where something in `__init__` breaks (a parameter, a layer with parameters, `print`), or where an
earlier break left the function to Python, Python calls `__init__`, and Dynamo begins with that:
there it meets an object that `torch.nn.Module.__init__` has not prepared yet, and gives the
function up. The same holds for each `__init__` that this one calls: of a parent class, of a module
inside.

Make the module once, in the `__init__` of the one that uses it: then nothing is made in the region,
and its parameters are known to the optimizer.
"""

import torch

from breakscope.rulekit.events import Constructor
from breakscope.rulekit.rule import Rule

rule = Rule(
    "BRK560",
    "constructor-of-module",
    severity="warning",
    dynamo=("GB0119",),
    shares=("GB0264",),
)


@rule.on(Constructor)
def check(event):
    yield event.problem(
        f"`{event.function}` runs inside the region, and Dynamo cannot begin with a module that is not made yet, so it is "
        "skipped as a whole",
        help="make the module once, in the `__init__` of the one that uses it",
        certainty="likely",
    )


@rule.example(lambda: (torch.ones(4),), module=True, dynamo=("GB0119", "GB0264"))
def bad():
    class Scale(torch.nn.Module):
        def __init__(self, size):
            super().__init__()  # BRK560
            self.scale = torch.nn.Parameter(torch.ones(size))  # BRK517

        def forward(self, x):
            return x * self.scale

    class Net(torch.nn.Module):
        def forward(self, x):
            return Scale(4)(x) + 1

    return Net()


@rule.becomes
def good():
    class Scale(torch.nn.Module):
        def __init__(self, size):
            super().__init__()
            self.scale = torch.nn.Parameter(torch.ones(size))

        def forward(self, x):
            return x * self.scale

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.scaled = Scale(4)

        def forward(self, x):
            return self.scaled(x) + 1

    return Net()
