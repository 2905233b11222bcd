"""A value of which nothing is known."""

from __future__ import annotations

from breakscope.rulekit.values import UNKNOWN, Value
from breakscope.static.machine.machine import Machine
from breakscope.static.variables.base import Variable
from breakscope.static.variables.modules.unseen_layers import call_unseen
from breakscope.static.variables.tensor import tensor_attribute
from breakscope.static.variables.tensors.by_method import BY_METHOD, TENSOR_ONLY


class UnknownVariable(Variable):
    """A value of which nothing is known; what only tensors have makes it one."""

    def call(self, machine: Machine, callee, args, kwargs, node, frame) -> Value:
        return call_unseen(args, node, frame)

    def getattr(self, machine: Machine, owner, name, node, frame) -> Value:
        if name in TENSOR_ONLY:
            return tensor_attribute(machine, BY_METHOD, name, node, frame)
        return UNKNOWN

    def is_configuration(self, value) -> bool:
        return True
