"""isinstance of an abstract value, and the value that a successful check leaves."""

from __future__ import annotations

from breakscope.rulekit.values import (
    Class,
    Dict,
    External,
    Py,
    Sequence,
    Tensor,
    Union,
    Value,
)
from breakscope.static.machine.machine import Machine


def is_instance(machine: Machine, value: Value, wanted: Value) -> bool | None:
    """`isinstance(value, wanted)`, None when not known."""
    if isinstance(wanted, Sequence) and wanted.items is not None:
        verdicts = [is_instance(machine, value, w) for w in wanted.items]
        return True if True in verdicts else None if None in verdicts or not verdicts else False
    if value.is_unknown or isinstance(value, Union):
        return None
    if isinstance(wanted, Class):
        return machine.behaviour(value).is_of_class(machine, value, wanted)
    if isinstance(wanted, External):
        return machine.behaviour(value).is_of_type(machine, value, wanted.name)
    return None


def value_of_type(wanted: Value) -> Value | None:
    """A value of the given type, for isinstance narrowing of an unknown."""
    if not isinstance(wanted, External):
        return None
    if wanted.name in ("torch.Tensor", "torch.nn.Parameter"):
        return Tensor(origin="argument")
    if wanted.name in ("int", "float", "bool", "str"):
        return Py(wanted.name)
    if wanted.name in ("list", "tuple"):
        return Sequence(wanted.name, None)
    return Dict({}, open=True) if wanted.name == "dict" else None
