"""What is known of a file while its use of torch.compile is followed: names, scopes, events."""

from __future__ import annotations

import ast

from breakscope.rulekit.usage import Wrapped
from breakscope.rulekit.values import (
    UNKNOWN,
    External,
    ExternalInstance,
    Function,
    Instance,
    Method,
    Value,
)
from breakscope.static.definitions.names import external_value, module_names, resolve_import
from breakscope.static.machine.frames import Activation, Step
from breakscope.static.machine.machine import Machine
from breakscope.static.project.modules import ModuleInfo, Namespace
from breakscope.static.usage.loops import path_of
from breakscope.static.usage.scope import Local, Scope
from breakscope.static.usage.syntax import names_prefix


class State:
    """One file's state; it evaluates nothing but names and attributes."""

    def __init__(self, machine: Machine, module: ModuleInfo, activation: Activation) -> None:
        self.machine = machine
        self.module = module
        self.activation = activation
        self.names = module_names(machine, module)
        self.globals = Scope()
        self.scope = self.globals
        self.silent = False  # no events are recorded
        self.function_name = ""
        self.running: ast.stmt | None = None  # the statement that is being followed
        # id of a wrapping node -> the first call of what it made
        self.first_calls: dict[int, ast.AST | None] = {}
        self.uses = 0  # how often something compiled was called or handed on
        # id of a module value -> what torch.compile made of it
        self.compiled_of: dict[int, Wrapped] = {}
        # id of a call -> the compiled callable that it calls
        self.compiled_calls: dict[int, Wrapped] = {}
        self.saves_prefix = False  # the file saves states whose keys begin with `_orig_mod.`
        self.knows_prefix = "_orig_mod" in module.source and names_prefix(module.tree)

    def emit(self, event_type, node: ast.AST, certainty: str = "certain", **fields) -> None:
        """Record an event, once for each place, kind and circumstance."""
        about = [fields.get(name) for name in ("name", "repeats", "varies", "new_backend", "what")]
        detail = (id(node), event_type, certainty, type(fields.get("target")), *about)
        if self.silent or detail in self.activation.seen:
            return
        self.activation.seen.add(detail)
        source = self.machine.text(node, self.module)
        event = event_type(
            node=node, source=source, function=self.function_name, certainty=certainty, **fields
        )
        self.activation.steps.append(Step(event))

    def look_up(self, path: str) -> Value:
        """What a path holds: here, in an outer function, in the module."""
        scope: Scope | None = self.scope
        root = path.partition(".")[0]
        while scope is not None:
            if path in scope.names:
                return scope.names[path]
            if root in scope.bound and scope is not self.globals:
                return UNKNOWN
            scope = scope.outer
        value = resolve_import(self.machine, self.names.get(path, UNKNOWN))
        if isinstance(value, Function) and value.info.module is self.module:
            return Local(value.info.node, value.info.qualname)
        return value

    def path_value(self, node: ast.expr) -> Value:
        """What a name or a chain of attributes holds."""
        if isinstance(node, ast.Name):
            return self.look_up(node.id)
        if not isinstance(node, ast.Attribute):
            return UNKNOWN
        known = self.look_up(path_of(node))
        return self.member(self.path_value(node.value), node.attr) if known.is_unknown else known

    def member(self, owner: Value, name: str) -> Value:
        """What an attribute of a value is."""
        if isinstance(owner, External):
            return external_value(self.machine, f"{owner.name}.{name}")
        if isinstance(owner, Wrapped):
            return owner.target if name == "_orig_mod" else Method(owner, name)
        if isinstance(owner, Instance | ExternalInstance):
            return Method(owner, name)
        if isinstance(owner, Namespace):
            found = module_names(self.machine, owner.info).get(name, UNKNOWN)
            return resolve_import(self.machine, found)
        return UNKNOWN
