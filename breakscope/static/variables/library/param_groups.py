"""The groups of parameters of torch's optimizers, which the code around a region reads the learning rate
from, and sets it in."""

from __future__ import annotations

from breakscope.rulekit.values import Const, Dict, ExternalInstance, Py, Sequence, Value
from breakscope.static.machine.machine import Machine

OPTIMIZERS = "torch.optim."
# the learning rate of those that have another than the usual one
RATES = {"": 0.001, "LBFGS": 1.0, "Rprop": 0.01, "Adadelta": 1.0, "Adagrad": 0.01, "RMSprop": 0.01}


def is_optimizer(value: Value) -> bool:
    return (
        type(value) is ExternalInstance
        and value.name.startswith(OPTIMIZERS)
        and value.name.count(".") == 2
    )


def param_groups(machine: Machine, optimizer: ExternalInstance) -> Sequence:
    """`optimizer.param_groups` with one group, as it was made and has been set since."""
    kept = machine.driver.groups.get(id(optimizer))
    if kept is None:
        name = optimizer.name.rpartition(".")[2]
        given = dict(zip(("params", "lr"), optimizer.args)) | dict(optimizer.kwargs)
        given.setdefault("lr", Const(RATES.get(name, RATES[""])))
        group = Dict(given, open=True)
        kept = optimizer, Sequence("list", [group])
        machine.driver.groups[id(optimizer)] = kept
    return kept[1]


def note_step_of_scheduler(machine: Machine, scheduler: ExternalInstance) -> None:
    """A scheduler sets another learning rate."""
    optimizer = scheduler.args[0] if scheduler.args else dict(scheduler.kwargs).get("optimizer")
    if optimizer is not None and is_optimizer(optimizer):
        for group in param_groups(machine, optimizer).items or ():
            group.items["lr"] = Py("float", "random")
