"""isinstance of an abstract value, and the value that a successful check leaves."""

from __future__ import annotations

from msgspec.structs import replace

from breakscope.rulekit.values import (
    Class,
    Const,
    Dict,
    External,
    ExternalInstance,
    Function,
    Instance,
    Py,
    Sequence,
    Tensor,
    Union,
    Value,
)
from breakscope.static.definitions.annotations import value_of_class
from breakscope.static.definitions.classes import (
    bases_of,
    external_bases,
    find_member,
    is_tensor_class,
    members_of,
    mro_of,
)
from breakscope.static.definitions.names import resolve_import
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.lattice import join_all
from breakscope.static.machine.library import NOT_TENSORS
from breakscope.static.machine.machine import Machine

PROTOCOLS = frozenset({"typing.Protocol", "typing_extensions.Protocol"})
NOT_CHECKED = frozenset("__init__ __doc__ __slots__ __module__ __class_getitem__".split())


def is_instance(machine: Machine, value: Value, wanted: Value, frame: Frame) -> bool | None:
    """`isinstance(value, wanted)`, None when not known. In a library a tensor is taken to be a plain one."""
    if isinstance(wanted, Sequence) and wanted.items is not None:
        verdicts = [is_instance(machine, value, w, frame) for w in wanted.items]
        return True if True in verdicts else None if None in verdicts or not verdicts else False
    if value.is_unknown or isinstance(value, Union):
        return None
    if isinstance(wanted, Union):  # one that stands in for what may not be installed
        meant = {
            is_instance(machine, value, resolve_import(machine, w), frame) for w in wanted.options
        }
        return meant.pop() if len(meant) == 1 else None
    if frame.module.library and _is_plain(value):
        if wanted.is_unknown:
            return False
        value = replace(value, sure=True)
    if isinstance(wanted, Class):
        of_class = machine.behaviour(value).is_of_class(machine, value, wanted)
        is_nominal = of_class or not is_protocol(machine, wanted)
        return of_class if is_nominal else has_all_of(machine, value, wanted)
    if isinstance(wanted, External):
        if wanted.name == "type":
            return is_class(machine, value)
        return machine.behaviour(value).is_of_type(machine, value, wanted.name)
    return None


def _is_plain(value: Value) -> bool:
    return type(value) is Tensor and value.kind != "subclass" and value.origin != "guess"


def is_protocol(machine: Machine, cls: Class) -> bool:
    """True for a class whose objects are those that have what it names."""
    return any(
        isinstance(base, External) and base.name in PROTOCOLS
        for base in bases_of(machine, cls.info)
    )


def has_all_of(machine: Machine, value: Value, protocol: Class) -> bool | None:
    """`isinstance(value, protocol)`, None where not all of the value is seen."""
    if type(value) is not Instance:
        return None
    names = {name for cls in mro_of(machine, protocol.info) for name in members_of(cls)}
    missing = [
        name
        for name in names - NOT_CHECKED
        if name not in value.attributes and find_member(machine, value.cls.info, name) is None
    ]
    if missing:
        return None if external_bases(machine, value.cls.info) else False
    return True


def is_class(machine: Machine, value: Value) -> bool | None:
    """`isinstance(value, type)`."""
    if isinstance(value, External):
        return True if machine.library.is_class(value.name) else None
    if isinstance(value, Class):
        return True
    return False if isinstance(value, Const | Dict | Function | Sequence | Tensor) else None


def value_of_type(machine: Machine, wanted: Value) -> Value | None:
    """A value of the given type, for isinstance narrowing of an unknown."""
    if isinstance(wanted, Class):
        return value_of_class(machine, wanted)
    if isinstance(wanted, Sequence) and wanted.items:
        made = [value_of_type(machine, item) for item in wanted.items]
        return None if None in made else join_all(made)
    if not isinstance(wanted, External):
        return None
    if wanted.name in ("torch.Tensor", "torch.nn.Parameter"):
        return Tensor(origin="argument")
    if wanted.name in ("int", "float", "bool", "str"):
        return Py(wanted.name)
    if wanted.name in ("list", "tuple"):
        return Sequence(wanted.name, None)
    if wanted.name == "dict":
        return Dict({}, open=True)
    made = machine.library.annotated(wanted.name)
    return made if isinstance(made, ExternalInstance) else None


def is_tensor_type(machine: Machine, wanted: Value) -> bool:
    """True for a type of tensors or arrays, and where one of several types is or may be one."""
    if isinstance(wanted, Sequence) and wanted.items is not None:
        return any(is_tensor_type(machine, item) for item in wanted.items)
    if isinstance(wanted, Class):
        return is_tensor_class(machine, wanted.info)
    if not isinstance(wanted, External):
        return True
    return wanted.name.startswith(("torch.", "numpy.")) and not wanted.name.startswith(NOT_TENSORS)
