"""Which frames Dynamo looks at when eager Python calls them.

A break leaves the code behind it, or around it, to Python. What that calls is compiled by itself, but only where torch or
numpy is in sight: see has_tensor_in_frame in torch/_dynamo/convert_frame.py. Generators are left alone.
"""

from __future__ import annotations

import ast

from breakscope.static.frames import Frame
from breakscope.static.generators import is_generator
from breakscope.static.modules import FunctionInfo, Import
from breakscope.values import (
    Class, Const, Dict, External, Function, Instance, Method, Py, Scalar, Sequence, ShapeInt, Value, holds_tensor, options,
)
from breakscope.walking import walk

MODULES = ("ModuleList", "Sequential")
TRACED_NAMESPACES = frozenset({"torch", "torch.nn", "torch.nn.functional", "torch.fft", "torch.linalg", "numpy"})
TENSORLESS = (Const, External, Function, Method, Py, Scalar, ShapeInt)
ITERATED = ("tuple", "range", "size")  # a comprehension that begins with another iterator breaks at once


class Apart:
    """What Dynamo would find in a frame."""

    __slots__ = ()

    def is_function_compiled_apart(self, function: Function, names: dict[str, Value]) -> bool:
        """True unless the parameters `names` certainly hold no tensor and no module, and the body names none either."""
        info = function.info
        if is_generator(info):
            return False
        if any(map(self.may_show_tensor, names.values())):
            return True
        return self.mentions_torch(info) or function.scope is not None and self.shows_tensor_around(info, function.scope)

    def may_show_tensor(self, value: Value, depth: int = 3) -> bool:
        """False where Dynamo's search of a frame's variables certainly finds no tensor, array or module."""
        for option in options(value):
            kind = type(option)
            if kind in TENSORLESS:
                continue
            if kind is Sequence and depth:
                inside = option.items if option.items is not None else (option.element,)
            elif kind is Dict and depth:
                inside = (*option.items.values(), option.element) if option.open else option.items.values()
            elif kind is Instance and not self.is_module(option) and not self.external_bases(option.cls.info):
                continue
            elif kind is Class and not self.is_module_class(option.info):
                continue
            else:
                return True
            if kind is Sequence and option.type in MODULES or any(self.may_show_tensor(v, depth - 1) for v in inside):
                return True
        return False

    def mentions_torch(self, info: FunctionInfo) -> bool:
        """True when the body names something that was imported from torch or numpy."""
        if info.mentions_torch is None:
            bound = self.module_names(info.module)
            body = info.node.body if isinstance(info.node.body, list) else [info.node.body]
            named = {part.id for statement in body for part in walk(statement) if type(part) is ast.Name}
            info.mentions_torch = any(
                type(value := bound.get(name)) is Import and value.module.partition(".")[0] in ("torch", "numpy")
                for name in named
            )
        return info.mentions_torch

    def shows_tensor_around(self, info: FunctionInfo, scope: Frame) -> bool:
        """True when the body may name a tensor or module of the functions around it."""
        for part in walk(info.node):
            if type(part) is ast.Name:
                around = scope if part.id in scope.names else scope.enclosing(part.id)
                if around is not None and self.may_show_tensor(around.names[part.id]):
                    return True
        return False

    def is_comprehension_compiled_apart(self, node, frame: Frame) -> bool:
        """True when Dynamo looks at the comprehension's own frame: it names torch or numpy, or a tensor or module of
        the function around it (see has_tensor_in_frame in torch/_dynamo/convert_frame.py)."""
        names = [part for part in walk(node) if type(part) is ast.Name]
        own = {part.id for part in names if type(part.ctx) is ast.Store}
        outside = {id(part) for part in walk(node.generators[0].iter)}  # evaluated by the function around it
        for part in names:
            if part.id in own or id(part) in outside:
                continue
            value = frame.names.get(part.id)
            if value is None and (scope := frame.enclosing(part.id)) is not None:
                value = scope.names[part.id]
            if value is not None:
                if any(holds_tensor(o) or self.is_module(o) or getattr(o, "type", "") in MODULES for o in options(value)):
                    return True
            elif type(bound := self.module_names(frame.module).get(part.id)) is Import:
                name = f"{bound.module}.{bound.member}" if bound.member else bound.module
                if name in TRACED_NAMESPACES or not bound.member and name.startswith(("torch.", "numpy.")):
                    return True
        return False


def is_iterated_apart(iterable: Value) -> bool:
    """True for what a comprehension of its own can begin to iterate."""
    return all(
        option.is_tensor or getattr(option, "type", "") in ITERATED or isinstance(option, Const) and not isinstance(option.value, str)
        for option in options(iterable)
    )
