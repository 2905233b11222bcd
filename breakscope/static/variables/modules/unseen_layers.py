"""Layers of which nothing is known: what a constructor was given and kept, and a part of an
nn.Sequential. What such a layer makes of a tensor is most likely one."""

from __future__ import annotations

import ast

from breakscope.rulekit.values import UNKNOWN, Instance, Tensor, Value
from breakscope.static.machine.frames import Frame

MADE = Tensor(sure=False, origin="guess")


def call_unseen(args: list[Value], node: ast.AST, frame: Frame) -> Value:
    """What a value that is unknown returns, called as `self.backbone(x)`."""
    if frame.emits and type(node) is ast.Call and type(node.func) is ast.Attribute:
        kept_by = node.func.value
        owner = frame.names.get(kept_by.id) if type(kept_by) is ast.Name else None
        if type(owner) is Instance and node.func.attr in owner.attributes:
            return behind(args)
    return UNKNOWN


def behind(args: list[Value]) -> Value:
    """What an unknown layer makes of its arguments."""
    return MADE if args and type(args[0]) is Tensor else UNKNOWN
