"""Contexts that change the global state in which what is compiled runs."""

from __future__ import annotations

import ast

from breakscope.rulekit.values import FALSE, TRUE, External, ExternalInstance, Value
from breakscope.static.machine.driver import INFERENCE, OFF
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.machine import Machine

SWITCH = "torch.set_grad_enabled"
STATES = {
    "torch.autocast": "autocast",
    "torch.amp.autocast": "autocast",
    "torch.cpu.amp.autocast": "autocast",
    "torch.cuda.amp.autocast": "autocast",
    "torch.no_grad": "grad_mode",
    "torch.inference_mode": "grad_mode",
    "torch.enable_grad": "grad_mode",
    SWITCH: "grad_mode",
    "torch.device": "global_state",
}
# with which argument they change nothing
OF_GRADIENTS = {SWITCH: TRUE, "torch.inference_mode": FALSE}


def note_entered(machine: Machine, manager: Value, made: ast.AST, frame: Frame) -> None:
    """A `with`, or a stack of contexts, enters one; the `with` that ends restores the state."""
    if machine.driver.function is None or not isinstance(manager, ExternalInstance):
        return
    if manager.name in STATES:
        text = "" if _is_plain(manager) else _text(machine, manager, made, frame)
        machine.driver.state[STATES[manager.name]] = text


def _text(machine: Machine, manager: ExternalInstance, made: ast.AST, frame: Frame) -> str:
    """A context as it is written, and what its arguments are: one line may enter several."""
    given = [*manager.args, *(value for _, value in manager.kwargs)]
    if manager.name == "torch.no_grad" or (manager.name == SWITCH and given == [FALSE]):
        return OFF
    if manager.name == "torch.inference_mode" and given in ([], [TRUE]):
        return INFERENCE
    named = [
        v.name if isinstance(v, External) else str(v.value)
        for v in given
        if v.is_const or isinstance(v, External)
    ]
    return f"{machine.text(made, frame.module)} {' '.join(named)}"


def _is_plain(manager: ExternalInstance) -> bool:
    """True for a context that changes nothing where nothing was changed before, or of which nobody knows whether it
    is on: an option that is to be put on."""
    given = [*manager.args, *(value for _, value in manager.kwargs)]
    if manager.name == "torch.enable_grad":
        return True
    if manager.name in OF_GRADIENTS:
        return given == [OF_GRADIENTS[manager.name]]
    enabled = dict(manager.kwargs).get("enabled", TRUE)
    return enabled == FALSE or not enabled.is_const
