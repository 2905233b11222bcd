"""Which parameters of a region are sparse tensors."""

from __future__ import annotations

from breakscope import limits
from breakscope.rulekit.values import NONE, Function, Instance, Sequence, Tensor, Value, options
from breakscope.static.definitions.classes import bound_to, find_member
from breakscope.static.machine.lattice import join
from breakscope.static.machine.machine import Machine
from breakscope.static.regions.parameter_uses import Usage


def as_sparse(found: Value, default: Value | None) -> Value:
    """What a sparse parameter holds: a tensor, or a container of them where it is annotated as one."""
    containers = [o for o in options(found) if isinstance(o, Sequence)]
    value = containers[0].rebuilt(_made_sparse) if containers else _made_sparse(Tensor())
    return join(value, NONE) if default is not None and default.is_none else value


def _made_sparse(value: Value) -> Value:
    return Tensor(sure=False, kind="sparse", origin="argument") if type(value) is Tensor else value


def is_taken_as_sparse(
    machine: Machine,
    function: Function,
    name: str,
    body: Usage,
    deep: int = limits.DEEPEST_TENSOR_SEARCH,
) -> bool:
    """True where a function, or the method or part of its module that it hands the parameter to, takes
    it for sparse."""
    if body.is_sparse(name):
        return True
    if type(function.bound) is not Instance or not deep:
        return False
    for attribute, at in body.handed(name):
        taken = _called(machine, function.bound, attribute)
        parameters = taken.info.node.args.args[taken.bound is not None :] if taken else []
        if at < len(parameters):
            inner = Usage(taken.info)
            if is_taken_as_sparse(machine, taken, parameters[at].arg, inner, deep - 1):
                return True
    return False


def _called(machine: Machine, owner: Instance, attribute: str) -> Function | None:
    """What `self.attribute(...)` calls: the forward of a part, or a method."""
    part = owner.attributes.get(attribute)
    is_part = type(part) is Instance
    owner, name = (part, "forward") if is_part else (owner, attribute)
    found = bound_to(find_member(machine, owner.cls.info, name), owner)
    return found if isinstance(found, Function) else None
