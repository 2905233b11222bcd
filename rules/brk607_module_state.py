"""Converting or loading a module inside the region ends the graph.

`module.half()`, `module.to(dtype)`, `module.to_empty(...)`, `load_state_dict(...)`, `module.requires_grad_(False)`
change parameters, which are inputs of the graph. A dtype that they have already, a device alone, and freezing
what is frozen change nothing and are traced. (`module.train()`, `eval()`, `state_dict()`,
`zero_grad()` are traced by torch 2.13; what the target version does not trace is flagged.)

Do it once, before the module is compiled. To run one part in another precision, cast its input and
use `torch.autocast` around the call, which is traced.
"""

import torch

from breakscope.knowledge import load, since
from breakscope.rulekit.events import Call
from breakscope.rulekit.module_parameters import holds_parameters
from breakscope.rulekit.rule import Rule
from breakscope.rulekit.values import FALSE, TRUE, External

BEFORE = "do it outside of the region; use `torch.autocast` for one part in another precision"

rule = Rule(
    "BRK607",
    "module-state",
    dynamo=(
        "GB0208: non-Tensor.* in torch/nn/modules/module.py",
        "GB0264: in torch/nn/modules/module.py",
        "GB0117: in torch/nn/modules/module.py",
    ),
    shares=("GB0208", "GB0125", "GB0264", "GB0117"),
    seen="{} changes a module's state inside the region",
    help=BEFORE,
)

CLASSES = {"torch.nn.Module"} | {
    name.removesuffix(".forward") for name in load().modules if name.endswith(".forward")
}
LOADS = {
    f"{owner}.{name}"
    for owner in CLASSES
    for name in ("load_state_dict", "half", "bfloat16", "double", "to_empty")
}
# what parameters of the usual dtype do not become by a cast
OTHER_DTYPES = {
    External(f"torch.{name}") for name in ("float16", "half", "bfloat16", "float64", "double")
}


@rule.on(Call, LOADS)
def check(event):
    if not event.name.endswith(".load_state_dict") and holds_parameters(event.receiver) is False:
        return  # a buffer may be replaced
    yield event.graph_break(
        f"`{event.shown}` replaces parameters inside the region",
        help=BEFORE,
    )


@rule.on(Call, {f"{owner}.{name}" for owner in CLASSES for name in ("to", "type")})
def check_cast(event):
    keyword = "dtype" if event.name.endswith(".to") else "dst_type"
    given = (*event.args, *([event.kwargs[keyword]] if keyword in event.kwargs else []))
    is_other = any(value in OTHER_DTYPES for value in given)
    if is_other and holds_parameters(event.receiver):
        yield event.graph_break(
            f"`{event.shown}` replaces parameters inside the region",
            help=BEFORE,
            certainty="likely",
        )


OTHERS = tuple(
    "state_dict to float cpu cuda share_memory register_forward_hook register_forward_pre_hook".split()
)


def untraced() -> set[str]:
    """The other methods that the target version of torch does not trace; torch 2.13 traces them all."""
    facts = load()
    broken = [
        n
        for n in OTHERS
        if (fact := facts.call(f"torch.nn.Module.{n}")) is not None and fact.breaks and fact.always
    ]
    if not since("2.13") and "state_dict" not in broken:
        broken.append("state_dict")
    return {f"{owner}.{name}" for owner in CLASSES for name in broken}


@rule.on(Call, untraced)
def check_untraced(event):
    if event.name.endswith(".share_memory") and holds_parameters(event.receiver) is False:
        return
    yield event.graph_break(
        f"Dynamo does not trace `{event.shown}` in this torch version",
        help="do it once, before the module is compiled",
    )


@rule.on(Call, {f"{owner}.requires_grad_" for owner in CLASSES})
def check_frozen(event):
    wanted = event.argument(0, "requires_grad")
    if wanted is None or wanted == TRUE:
        return  # parameters require grad already: nothing changes
    yield event.graph_break(
        f"`{event.shown}` changes `requires_grad` of parameters inside the region",
        help="freeze before the module is compiled, or use `detach()` in the forward pass",
        certainty=None if wanted == FALSE else "possible",
    )


@rule.example(lambda: (torch.ones(2, 4),), module=True, dynamo=("GB0208",))
def bad():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(4, 4)
            self.saved = self.layer.state_dict()

        def forward(self, x):
            y = x * 2
            self.layer.load_state_dict(self.saved)  # BRK607
            return self.layer(y)

    return Net()


@rule.becomes
def good():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(4, 4)

        def forward(self, x):
            y = x * 2
            return self.layer(y)

    return Net()


@rule.example(lambda: (torch.ones(2, 4),), module=True, dynamo=("GB0264",), equal=False)
def bad_cast():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())

        def forward(self, x):
            y = x * 2
            self.layers.to(torch.bfloat16)  # BRK607
            return self.layers(y.bfloat16())

    return Net()


@rule.becomes
def good_cast():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())

        def forward(self, x):
            y = x * 2
            with torch.autocast("cpu", torch.bfloat16):
                return self.layers(y)

    return Net()


@rule.example(lambda: (torch.ones(2, 4),), module=True, dynamo=("GB0125",))
def bad_frozen():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(4, 4)

        def forward(self, x):
            y = x * 2
            self.layer.requires_grad_(False)  # BRK607
            return self.layer(y)

    return Net()


@rule.becomes
def good_frozen():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(4, 4)

        def forward(self, x):
            y = x * 2
            return self.layer(y).detach()

    return Net()


@rule.example(lambda: (torch.ones(2, 4),), module=True, dynamo=("GB0117",))
def bad_shared():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(4, 4)

        def forward(self, x):
            y = x * 2
            self.layer.share_memory()  # BRK607
            return self.layer(y)

    return Net()


@rule.becomes
def good_shared():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(4, 4)
            self.layer.share_memory()

        def forward(self, x):
            y = x * 2
            return self.layer(y)

    return Net()
