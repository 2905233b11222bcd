"""The first step with momentum makes the optimizer's state, so the second step compiles anew.

SGD makes its momentum buffers when it first steps. Dynamo has compiled a step without state by
then; the guard on the length of the state fails at the second step, which compiles once more. It
stays at two compiles. Adam and its relatives make their state before the step is traced.

Take one step before compiling, or leave the step out of the region. Plain SGD without momentum
keeps no state.
"""

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule
from breakscope.rulekit.values import ExternalInstance

rule = Rule(
    "BRK721", "momentum-state", kind="recompile", severity="info", dynamo=("optimizer_state",)
)


@rule.on(Call, "torch.optim.SGD.step")
def check(event):
    if not isinstance(event.receiver, ExternalInstance):
        return
    momentum = dict(event.receiver.kwargs).get("momentum")
    if momentum is not None and momentum.is_const and momentum.value:
        yield event.problem(
            f"the first `{event.shown}` makes the momentum buffers, so the second one compiles anew",
            help="take one step before compiling, or leave the step out of the region",
            apart=True,  # Dynamo compiles the optimizer's step by itself
        )


@rule.example(*[lambda: (torch.ones(4),)] * 3, module=True, equal=False)
def bad():
    weight = torch.ones(4, requires_grad=True)
    weight.grad = torch.ones(4)
    optimizer = torch.optim.SGD([weight], lr=0.1, momentum=0.9)

    def forward(x):
        optimizer.step()  # BRK721, BRK603
        return x + 1

    return forward
