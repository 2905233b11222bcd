"""The groups of parameters of torch's optimizers, which the code around a region reads the learning rate
from, and sets it in."""

from __future__ import annotations

import ast

from breakscope.rulekit.values import Const, Dict, ExternalInstance, Py, Sequence, Value
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.machine import Machine

OPTIMIZERS = "torch.optim."
GROUP = "param_groups[0]"
MOMENTUM_GROUP = "momentum of param_groups[0]"
RATE = ("item", "lr")
MOMENTUM = ("item", "momentum")
# schedulers that set the momentum, or `betas`, as well, where they are not asked to leave it
CYCLES_MOMENTUM = ("OneCycleLR", "CyclicLR")
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
    """A scheduler sets another learning rate, which is written into where it is a tensor, and maybe another momentum."""
    given = dict(scheduler.kwargs)
    optimizer = scheduler.args[0] if scheduler.args else given.get("optimizer")
    if optimizer is None or not is_optimizer(optimizer) or machine.driver.calls is None:
        return
    other, outside = Py("float", "random"), machine.driver.outside
    cycles = scheduler.name.endswith(CYCLES_MOMENTUM)
    for group in param_groups(machine, optimizer).items or ():
        before = group.items["lr"]
        if not before.is_tensor:
            group.items["lr"] = other
            outside.append((group, RATE, other, before, frame.module.path, node))
        if cycles and given.get("cycle_momentum") != Const(False):
            group = _momentum_of(machine, group)
            outside.append((group, MOMENTUM, other, Const(None), frame.module.path, node))


def _momentum_of(machine: Machine, group: Dict) -> Value:
    """What stands for the numbers of a group that belong to its momentum."""
    made = Sequence("list", [Dict({}, open=True, home=MOMENTUM_GROUP)])
    return machine.driver.groups.setdefault(id(group), (group, made))[1].items[0]


def note_step(machine: Machine, optimizer: ExternalInstance, node: ast.AST, frame: Frame) -> None:
    """A region runs the optimizer's step, which reads the learning rate: Dynamo compiles it by itself."""
    for group in param_groups(machine, optimizer).items or ():
        machine.region.note_read((id(group), RATE), node, frame)
        machine.region.note_read((id(_momentum_of(machine, group)), MOMENTUM), node, frame)
