"""The groups of parameters of torch's optimizers, which the code around a region reads the learning rate
from, and sets it in."""

from __future__ import annotations

import ast

from breakscope.rulekit.values import Const, Dict, ExternalInstance, Py, Sequence, Value
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.machine import Machine

OPTIMIZERS = "torch.optim."
GROUP = "param_groups[0]"
RATE = ("item", "lr")
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
        group.home = GROUP
        kept = optimizer, Sequence("list", [group])
        machine.driver.groups[id(optimizer)] = kept
    return kept[1]


def note_step_of_scheduler(
    machine: Machine, scheduler: ExternalInstance, node: ast.AST, frame: Frame
) -> None:
    """A scheduler sets another learning rate; one that is a tensor is written into."""
    optimizer = scheduler.args[0] if scheduler.args else dict(scheduler.kwargs).get("optimizer")
    if optimizer is None or not is_optimizer(optimizer):
        return
    for group in param_groups(machine, optimizer).items or ():
        before = group.items["lr"]
        if before.is_tensor:
            continue
        rate = group.items["lr"] = Py("float", "random")
        if machine.driver.calls is not None:
            path = frame.module.path
            machine.driver.outside.append((group, RATE, rate, before, path, node))


def note_step(machine: Machine, optimizer: ExternalInstance, node: ast.AST, frame: Frame) -> None:
    """A region runs the optimizer's step, which reads the learning rate: Dynamo compiles it by itself."""
    for group in param_groups(machine, optimizer).items or ():
        machine.region.note_read((id(group), RATE), node, frame)
