"""Recurrent modules: where the region reads one, by name or on a walk over the modules of another."""

from __future__ import annotations

import ast

from breakscope import limits
from breakscope.rulekit.module_parameters import holds_parameters
from breakscope.rulekit.values import (
    External,
    ExternalInstance,
    Instance,
    Py,
    Sequence,
    Tensor,
    Union,
    Value,
    options,
)
from breakscope.rulekit.walking import names_in, plain_parameters, walk
from breakscope.static.definitions.classes import external_bases
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.given import both, by_condition
from breakscope.static.machine.machine import Machine
from breakscope.static.variables.effects.emitting import emit_call

# What Dynamo cannot hold: it gives the function up where one is read, called or not.
RECURRENT = frozenset(
    f"torch.nn.{where}{name}"
    for where in ("", "modules.rnn.")
    for name in ("LSTM", "GRU", "RNN", "RNNBase")
)
# methods that go over the modules inside, and so read each
WALKS = frozenset(
    "parameters named_parameters modules named_modules children named_children train eval".split()
)


def first_recurrent(
    owner: Instance, stops: bool, shallow: bool, depth: int = limits.DEEPEST_MODULE_WALK
) -> Value | None:
    """The first recurrent module that a walk over the modules of `owner` meets, in their order.
    With `stops` it ends at the first parameter, as `next(self.parameters())` does; a tensor then
    stands for that."""
    held = list(owner.attributes.values())
    if stops and (
        own := next((v for v in held if type(v) is Tensor and v.kind == "parameter"), None)
    ):
        return own
    for value in held:
        parts = [value]
        if type(value) is Sequence and value.type in ("ModuleList", "Sequential"):
            parts = [] if shallow else value.items or []
        for part in parts:
            found = None
            if type(part) is Instance and depth and not shallow:
                found = first_recurrent(part, stops, shallow, depth - 1)
            elif type(part) is ExternalInstance and part.name.startswith("torch.nn."):
                if part.name in RECURRENT:
                    found = part
                elif stops and holds_parameters(part):
                    found = Tensor("float", kind="parameter")
            if found is not None:
                return found
    return None


def note_recurrent_read(machine: Machine, value: Value, node: ast.AST, frame: Frame) -> None:
    """A recurrent module breaks where it is first read. One that may be None counts where
    configuration leads there."""
    kind = type(value)
    if kind is ExternalInstance and value.name in RECURRENT:
        emit_call(machine, f"{value.name}.forward", value, (), {}, node, frame)
    elif kind is Instance and _is_recurrent(machine, value):
        bases = external_bases(machine, value.cls.info)
        base = next(name for name in bases if name in RECURRENT)
        emit_call(machine, f"{base}.forward", value, (), {}, node, frame)
    elif kind is Union:
        found = [o for o in value.options if _is_layer(o)]
        others = [o for o in value.options if not _is_layer(o)]
        is_led_here = not others or frame.condition or frame.undecided
        if found and is_led_here and all(o.is_none for o in others):
            emit_call(machine, f"{found[0].name}.forward", found[0], (), {}, node, frame, "likely")


def _is_layer(value: Value) -> bool:
    return type(value) is ExternalInstance and value.name in RECURRENT


def _is_recurrent(machine: Machine, value: Value) -> bool:
    """True for such a layer, and for an object whose class derives from one."""
    if type(value) is Instance:
        return not RECURRENT.isdisjoint(external_bases(machine, value.cls.info))
    return _is_layer(value)


def note_recurrent_check(machine: Machine, args: list[Value], node: ast.AST, frame: Frame) -> None:
    """Code asks of which kind something is. Where that is a recurrent module, this reads it."""
    if not frame.emits or type(node) is not ast.Call:
        return
    if _is_layer(args[0]):
        note_recurrent_read(machine, args[0], node, frame)
        return
    asked = [o for types in args[1:] for part in options(types) for o in _types_of(part)]
    name = next((o.name for o in asked if type(o) is External and o.name in RECURRENT), None)
    before, rows = frame.condition, []
    if name is None:
        rows = [(o.name, c) for o, c in by_condition(args[0], before) if _is_layer(o)]
    elif any(
        o.is_unknown or (type(o) is Py and o.type == "unknown") or _is_layer(o)
        for o in options(args[0])
    ):
        rows = [(name, machine.text(node, frame.module))]
    for of, condition in rows[:1]:
        frame.condition = both(before, condition)
        emit_call(machine, f"{of}.forward", args[0], (), {}, node, frame, "likely")
        frame.condition = before


def _types_of(value: Value) -> list[Value]:
    return (value.items or []) if type(value) is Sequence else [value]


def note_recurrent_argument(machine: Machine, owner: Value, name: ast.Name, frame: Frame) -> None:
    """An attribute is read of an argument, or of one of those that a loop goes over. A recurrent module that is an
    argument made its caller run without a graph, so this function is compiled by itself and meets it here. So does the
    `forward` of a class that derives from one; what such a class has in the place of `__call__` is called by Python."""
    if not any([_is_recurrent(machine, option) for option in options(owner)]):
        return
    function = frame.function.node
    is_met = frame.depth > 1 or getattr(function, "name", "") == "forward"
    is_argument = is_met and any(p.arg == name.id for p in plain_parameters(function))
    if is_argument or _is_of_a_loop(function, name.id):
        note_recurrent_read(machine, owner, name, frame)


def _is_of_a_loop(function: ast.FunctionDef | ast.Lambda, name: str) -> bool:
    """True for a variable that a loop or a comprehension sets."""
    loops = (part for part in walk(function) if isinstance(part, ast.For | ast.comprehension))
    return any(name in names_in(loop.target) for loop in loops)
