"""Modules of Lightning: its trainer compiles the steps of a module that was handed to `torch.compile`, each by
itself, and what they log is not traced."""

from __future__ import annotations

from breakscope.rulekit.values import External, Function, Instance, Py
from breakscope.static.definitions.classes import external_bases, find_member, members_of, mro_of
from breakscope.static.machine.machine import Machine
from breakscope.static.project.modules import ClassInfo

MODULE = "LightningModule"
PACKAGES = ("lightning", "pytorch_lightning")
STEPS = ("training_step", "validation_step", "test_step", "predict_step")
LOGS = frozenset({"log", "log_dict"})
COUNTED = {"batch_idx": Py("int", "argument"), "dataloader_idx": Py("int", "argument")}  # of steps


def is_lightning(machine: Machine, info: ClassInfo) -> bool:
    """True for a class that derives from Lightning's module, whether the package is installed or not."""
    return any(
        name.endswith(f".{MODULE}") and name.partition(".")[0] in PACKAGES
        for name in external_bases(machine, info)
    ) or any(parent.name == MODULE and parent.module.library for parent in mro_of(machine, info))


def method_of_lightning(machine: Machine, owner: Instance, name: str) -> External | None:
    """A method that logs, of whatever version of the package; None where the object has another of that name."""
    member = find_member(machine, owner.cls.info, name) if name in LOGS else None
    is_own = type(member) is Function and not member.info.module.library
    if name not in LOGS or is_own or not is_lightning(machine, owner.cls.info):
        return None
    return External(f"lightning.{MODULE}.{name}")


def compiled_steps(machine: Machine, info: ClassInfo) -> list[str]:
    """The steps that the trainer compiles of an object of the class that is compiled."""
    steps = [name for name in STEPS if name in members_of(info)]
    return steps if steps and is_lightning(machine, info) else []
