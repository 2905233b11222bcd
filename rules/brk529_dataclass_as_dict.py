"""`dataclasses.asdict` or `astuple` of a dataclass that holds a tensor ends the graph.

Both make deep copies of every field: they call `copy.deepcopy` on the tensors, which Dynamo does
not trace. (In eager mode that is rarely wanted, either: every tensor is copied, and a tensor that
is no leaf of autograd's graph raises.) A dataclass of plain numbers and strings is traced.

Take the fields as they are, `vars(out)` for a dict or `(out.hidden, out.scale)` for a tuple. That
copies nothing, keeps the gradients, and leaves dataclasses inside of the fields as they are.
"""

import dataclasses

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule
from breakscope.rulekit.values import Instance, holds_tensor, options

rule = Rule("BRK529", "dataclass-as-dict", dynamo=("GB4198: deepcopy",), fix="unsafe")


@rule.on(Call, "dataclasses.asdict", "dataclasses.astuple")
def check(event):
    value = event.argument(0, "obj")
    held = (
        [v for o in options(value) if isinstance(o, Instance) for v in o.attributes.values()]
        if value
        else []
    )
    if any(map(holds_tensor, held)):
        name = event.name.rpartition(".")[2]
        yield event.graph_break(
            f"`{event.shown}` copies each tensor of the dataclass, which Dynamo does not trace",
            help="write `vars(...)` for its fields as a dict"
            if name == "asdict"
            else "name the fields one by one",
            fixable=name == "asdict",
        )


@rule.rewrite
def rewrite(node, problem):
    from breakscope.rulekit import rewriting as rw

    found = rw.find(node, problem)
    given = rw.arguments(found) if found is not None else None
    if given is None or len(given[0]) != 1 or given[1]:
        return None
    return rw.swap(node, found, f"vars({rw.code(given[0][0])})")


@rule.example(
    lambda: (torch.ones(4),),
    lambda: (torch.full((4,), torch.nan),),
    lambda: (torch.empty(0),),
    module=True,
    gradients=False,
)
def bad():
    @dataclasses.dataclass
    class Output:
        hidden: torch.Tensor
        scale: float = 2.0

    def forward(x):
        out = Output(x * 2)
        fields = dataclasses.asdict(out)  # BRK529
        return fields["hidden"] * fields["scale"]

    return forward


@rule.becomes
def good():
    @dataclasses.dataclass
    class Output:
        hidden: torch.Tensor
        scale: float = 2.0

    def forward(x):
        out = Output(x * 2)
        fields = vars(out)
        return fields["hidden"] * fields["scale"]

    return forward
