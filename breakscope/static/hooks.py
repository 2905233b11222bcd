"""Hooks of modules: how they are registered, and what they do around a call."""

from __future__ import annotations

import ast

from breakscope.events import Call
from breakscope.static.frames import Frame, Raised
from breakscope.values import Const, ExternalInstance, Sequence, Value

HOOKS = {
    "register_forward_hook": "forward",
    "register_forward_pre_hook": "pre",
    "register_full_backward_hook": "backward",
    "register_backward_hook": "backward",
    "register_full_backward_pre_hook": "backward",
}


class Hooks:
    """What runs before and behind a module's forward."""

    __slots__ = ()

    def register_hook(self, owner: Value, name: str, args: list[Value], node: ast.AST, frame: Frame) -> Value:
        self.emit(Call, node, frame, name="module.register_hook", receiver=owner, args=(Const(name), *args), kwargs={})
        if not frame.emits:
            self.hooks.setdefault(id(owner), []).append((HOOKS[name], args[0]))
        return ExternalInstance("torch.utils.hooks.RemovableHandle")

    def run_pre_hooks(self, module: Value, args, kwargs, node, frame):
        for kind, hook in self.hooks.get(id(module), ()):
            if kind == "pre":
                self.call_quietly(hook, [module, Sequence("tuple", list(args))], node, frame)
        return args, kwargs

    def run_hooks(self, module: Value, args: list[Value], result: Value, node: ast.AST, frame: Frame) -> Value:
        for kind, hook in self.hooks.get(id(module), ()):
            if kind == "forward":
                self.call_quietly(hook, [module, Sequence("tuple", list(args)), result], node, frame)
            elif kind == "backward":
                self.emit(Call, node, frame, name="torch.nn.Module.full_backward_hook", receiver=hook, kwargs={})
        return result

    def call_quietly(self, hook: Value, args: list[Value], node: ast.AST, frame: Frame) -> None:
        try:
            self.call_value(hook, args, {}, node, frame)
        except Raised:
            pass
