"""Containers of modules, what TorchScript makes of these and of other modules, what objects that derive from a container hold, and attributes whose
names are put together."""

from __future__ import annotations

import ast

from breakscope.rulekit.values import (
    UNKNOWN,
    Class,
    Const,
    Dict,
    External,
    ExternalInstance,
    Instance,
    Sequence,
    Value,
    holds_modules,
    options,
)
from breakscope.static.definitions.classes import external_bases, find_member
from breakscope.static.definitions.computed_names import affixes, fits
from breakscope.static.definitions.fields import has_generated_init
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.given import by_condition
from breakscope.static.machine.lattice import join, join_all, join_under
from breakscope.static.machine.library import SCRIPTED
from breakscope.static.machine.machine import Machine
from breakscope.static.variables.effects.side_effects import put_attribute
from breakscope.static.variables.library.builtin_iteration import builtin_dict, ordered_sequence
from breakscope.static.variables.objects.own_items import note_left_out

MODULE_LISTS = {
    "torch.nn.ModuleList": "ModuleList",
    "torch.nn.Sequential": "Sequential",
    "torch.nn.ParameterList": "list",
}
# what these make of a module
SCRIPTING = {
    "torch.jit.script": SCRIPTED,
    "torch.jit.freeze": SCRIPTED,
    "torch.jit.trace": "torch.jit.TracedModule",
}
# the attribute under which an object keeps what the container that it derives from holds
HELD = "[]"
# the one under which it keeps the layer of torch's that its class derives from, with what that was given
LAYER = "()"
# the one under which it keeps those of names that are put together, by their (beginning, end)
OPEN = "*"
MODULE = "torch.nn.Module"
DICTS = frozenset({"torch.nn.ModuleDict", "torch.nn.ParameterDict"})
CONTAINERS = DICTS | {"torch.nn.Sequential", "torch.nn.ModuleList", "torch.nn.ParameterList"}
PLAIN_DICTS = frozenset({"dict", "collections.OrderedDict", "collections.UserDict"})
PLAIN = PLAIN_DICTS | {"list", "tuple", "collections.UserList"}


def scripted(name: str, args: list[Value]) -> Value | None:
    """What a function of `SCRIPTING` makes of a module; None for a function, which Dynamo traces."""
    are_modules = args and all(
        isinstance(option, Instance | ExternalInstance) or holds_modules(option)
        for option in options(args[0])
    )
    return ExternalInstance(SCRIPTING[name]) if are_modules else None


def module_list(
    machine: Machine, name: str, args: list[Value], node: ast.AST, frame: Frame
) -> Value:
    type_ = MODULE_LISTS[name]
    if type_ == "Sequential" and not (len(args) == 1 and isinstance(args[0], Dict)):
        return Sequence("Sequential", list(args))
    if args and isinstance(args[0], Dict):
        return Sequence(type_, list(args[0].items.values()), names=tuple(map(str, args[0].items)))
    source = args[0] if args else Sequence("list", [])
    if isinstance(source, Sequence):
        return Sequence(
            type_, list(source.items) if source.items is not None else None, source.element
        )
    element = machine.iterate(source, node, frame)
    return Sequence(type_, None, element if element is not None else UNKNOWN)


def call_module_dict(machine: Machine, args, kwargs, node, frame) -> Value:
    return builtin_dict(machine, args, {}, node, frame)


def hold_contents(
    machine: Machine,
    owner: Instance,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST,
    frame: Frame,
) -> None:
    """Keep what an object's constructor hands to the container, or the layer, that its class derives from."""
    bases = external_bases(machine, owner.cls.info)
    base = next((name for name in bases if name in CONTAINERS or name in PLAIN), "")
    if not base and (layer := layer_of(machine, bases)):
        owner.attributes[LAYER] = ExternalInstance(layer, tuple(args), tuple(kwargs.items()))
    if not base or (base in PLAIN and has_generated_init(machine, owner.cls.info)):
        return
    if base in PLAIN:
        is_dict = base in PLAIN_DICTS
        owner.attributes[HELD] = (
            builtin_dict(machine, args, kwargs, node, frame)
            if is_dict
            else ordered_sequence(
                machine, "tuple" if base == "tuple" else "list", args, node, frame
            )
        )
        if machine.driver.sets and not frame.emits and is_dict:
            owner.attributes[HELD].home = owner.cls.info.name  # regions have it from outside
        if frame.emits and is_dict:
            note_left_out(machine, owner, owner.attributes[HELD])
        return
    if "*" in kwargs:
        args = (
            [*args, Sequence("tuple", None, kwargs["*"])] if base != "torch.nn.Sequential" else args
        )
    made = (
        builtin_dict(machine, args, {}, node, frame)
        if base in DICTS
        else module_list(machine, base, args, node, frame)
    )
    if "*" in kwargs and base == "torch.nn.Sequential":
        made = Sequence("Sequential", None, join_all([*args, kwargs["*"]]))
    owner.attributes[HELD] = made
    for option in (made, *args[:1]):
        if isinstance(option, Dict):
            owner.attributes.update({k: v for k, v in option.items.items() if isinstance(k, str)})


def layer_of(machine: Machine, bases: tuple[str, ...]) -> str:
    """The layer of torch's among the classes that one derives from; "" for none."""
    for name in bases:
        is_layer = name.startswith("torch.nn.") and not name.endswith(".Module")
        if is_layer and name not in CONTAINERS and machine.library.is_subclass(name, MODULE):
            return name
    return ""


def contents_of(machine: Machine, value: Value) -> Value:
    """What an object of such a class holds, where iterating over it means that and where
    something was seen to be put there; any other value itself."""
    held = value.attributes.get(HELD) if type(value) is Instance else None
    if held is None or (
        held.items is not None and not held.items and not (type(held) is Dict and held.open)
    ):
        return value
    return value if find_member(machine, value.cls.info, "__iter__") is not None else held


def add_named(
    machine: Machine, owner: Instance, name: Value, child: Value, node: ast.AST, frame: Frame
) -> None:
    """`owner.add_module(name, child)`, which takes modules only, and None: a class that it may be
    handed was called before."""
    rows = [row for row in by_condition(child, "") if not isinstance(row[0], Class | External)]
    child = join_under(*zip(*rows)) if rows else UNKNOWN
    put_named(machine, owner, name, child, node, frame)
    if HELD in owner.attributes:
        machine.call_method(owner.attributes[HELD], "add_module", [name, child], {}, node, frame)


def put_named(
    machine, owner: Instance, name: Value, value: Value, node: ast.AST, frame: Frame
) -> None:
    """Set what the first argument of the call names."""
    if isinstance(name, Const) and isinstance(name.value, str):
        put_attribute(machine, owner, name.value, value, frame)
    else:
        machine.touch(owner)
        put_openly(owner, node, 0, value)


def put_openly(owner: Instance, node: ast.AST, place: int, value: Value) -> None:
    """Set an attribute under the name that an argument of the call puts together, such as
    `f"conv{i}"`."""
    begin, end = (
        affixes(node.args[place])
        if isinstance(node, ast.Call) and len(node.args) > place
        else ("", "")
    )
    if begin or end:
        stored = owner.attributes.setdefault(OPEN, Dict({}))
        name = (begin, end)
        stored.items[name] = join(stored.items[name], value) if name in stored.items else value


def openly_put(owner: Instance, name: str) -> Value | None:
    """What stands under a name that was put together where it was set; None when none such
    fits."""
    stored = owner.attributes.get(OPEN)
    found = (
        [value for ends, value in stored.items.items() if fits(name, *ends)]
        if stored is not None
        else []
    )
    return join_all(found) if found else None


def submodule_at(machine: Machine, owner: Value, path: str, node: ast.AST, frame: Frame) -> Value:
    """`owner.get_submodule("layers.0")`."""
    for name in path.split(".") if path else ():
        held = contents_of(machine, owner)
        if name.isdigit() and isinstance(held, Sequence):
            owner = machine.getitem(held, Const(int(name)), node, frame)
        else:
            owner = machine.getattr(owner, name, node, frame)
    return owner
