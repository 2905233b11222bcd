"""Subclasses of torch.Tensor that are made inside a region: how Dynamo calls their constructors."""

from __future__ import annotations

import ast

from breakscope.rulekit.values import (
    Class,
    Const,
    Function,
    Instance,
    Tensor,
    Union,
    Value,
    maybe_tensor,
)
from breakscope.rulekit.walking import positional_parameters
from breakscope.static.definitions.classes import (
    external_bases,
    find_member,
    is_tensor_class,
    keeps_its_class,
)
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.library import TENSOR_TYPES
from breakscope.static.machine.machine import Machine
from breakscope.static.variables.effects.emitting import emit_call

MADE = "torch.Tensor subclass()"
PARAMETER = "torch.nn.Parameter"
_PLAIN = Tensor(sure=False, origin="argument")
_OF_SUBCLASS = Tensor(sure=False, kind="subclass", origin="argument")


def as_tensor(machine: Machine, owner: Instance) -> Tensor:
    """What an object of a tensor class is to all that it has from torch.Tensor."""
    return _OF_SUBCLASS if keeps_its_class(machine, owner.cls.info) else _PLAIN


def is_of_subclass(machine: Machine, value: Value) -> bool:
    """True for what is of a subclass of torch.Tensor, and whose results are too. One of several
    classes is, unless all of them say what their results are: such a `__torch_function__` mostly hands
    on to torch's, and the graph ends there."""
    if type(value) is Tensor:
        return value.kind == "subclass"
    if type(value) is Union:
        are_tensors = all(_is_of_tensor_class(machine, option) for option in value.options)
        return are_tensors and any(is_of_subclass(machine, option) for option in value.options)
    return type(value) is Instance and keeps_its_class(machine, value.cls.info)


def _is_of_tensor_class(machine: Machine, value: Value) -> bool:
    if type(value) is Instance:
        return is_tensor_class(machine, value.cls.info)
    return type(value) is Tensor and value.kind == "subclass"


def note_tensor_subclass(
    machine: Machine,
    cls: Class,
    init: Value | None,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST,
    frame: Frame,
) -> None:
    """Emit what Dynamo does not do for a subclass, and follow its `__new__`, where Dynamo does.

    A subclass that can be taken apart (`__tensor_flatten__`) is made by a call in the graph. Of any
    other, `__new__` is traced, and then `__init__` with the keyword arguments only.
    """
    if TENSOR_TYPES.isdisjoint(external_bases(machine, cls.info)):
        return
    new = find_member(machine, cls.info, "__new__")
    is_wrapper = find_member(machine, cls.info, "__tensor_flatten__") is not None
    if is_wrapper:
        given = (*args, *kwargs.values())
        why = "object" if any(is_own_object(machine, value) for value in given) else ""
    elif new is None and PARAMETER in external_bases(machine, cls.info):
        why = ""
        note_parameter(machine, cls, [cls, *args], kwargs, node, frame)
    elif new is None:
        why = "" if len(args) == 1 and not kwargs and may_be_tensor(args[0]) else "default"
    else:
        why = "init" if takes_more(init, kwargs) else ""
    if why:
        emit_call(machine, MADE, cls, (Const(why),), {}, node, frame)
    if type(new) is Function and (why or not is_wrapper):
        machine.inline(Function(new.info, None, new.scope), [cls, *args], kwargs, node, frame)


def note_parameter(machine: Machine, cls: Value, args, kwargs, node: ast.AST, frame: Frame) -> None:
    """Emit that `__new__` of parameters is called for a class that derives from them."""
    if type(cls) is Class and PARAMETER in external_bases(machine, cls.info):
        emit_call(machine, f"{PARAMETER}.__new__", None, args, kwargs, node, frame)


def may_be_tensor(value: Value) -> bool:
    return value.is_unknown or maybe_tensor(value)


def takes_more(init: Value | None, kwargs: dict[str, Value]) -> bool:
    """True for an `__init__` that needs an argument beside `self` and these."""
    if type(init) is not Function or "**" in kwargs:
        return False
    spec = init.info.node.args
    parameters = positional_parameters(init.info.node)
    needed = parameters[1 : len(parameters) - len(spec.defaults)]
    return any(parameter.arg not in kwargs for parameter in needed)


def is_own_object(machine: Machine, value: Value) -> bool:
    """True for an object of a class of the source that cannot be an argument in the graph: one that
    derives from nothing else, and is no frozen dataclass."""
    if type(value) is not Instance or external_bases(machine, value.cls.info):
        return False
    return not any(map(_freezes, value.cls.info.node.decorator_list))


def _freezes(decorator: ast.expr) -> bool:
    return isinstance(decorator, ast.Call) and any(
        k.arg == "frozen" and isinstance(k.value, ast.Constant) and k.value.value is True
        for k in decorator.keywords
    )
