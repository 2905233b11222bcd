"""Classes that derive from nn.Sequential, nn.ModuleList, nn.ModuleDict, dict or list; attributes under names that are put
together."""

from __future__ import annotations

import ast

from breakscope.static.computed_names import affixes, fits
from breakscope.static.frames import Frame
from breakscope.static.joins import join, join_all
from breakscope.values import Const, Dict, Instance, Sequence, Value

HELD = "[]"  # the attribute under which an object keeps what the container that it derives from holds
OPEN = "*"  # the one under which it keeps those of names that are put together, by their (beginning, end)
DICTS = frozenset({"torch.nn.ModuleDict", "torch.nn.ParameterDict"})
CONTAINERS = DICTS | {"torch.nn.Sequential", "torch.nn.ModuleList", "torch.nn.ParameterList"}
PLAIN_DICTS = frozenset({"dict", "collections.OrderedDict", "collections.UserDict"})
PLAIN = PLAIN_DICTS | {"list", "collections.UserList"}
FILLING = frozenset({"append", "extend", "insert", "update", "setdefault"})
READING = frozenset({"items", "keys", "values", "pop", "get"})


class ModuleContainers:
    """What objects of such classes hold."""

    __slots__ = ()

    def hold(self, owner: Instance, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame) -> None:
        """Keep what an object's constructor hands to the container that its class derives from."""
        base = next((name for name in self.external_bases(owner.cls.info) if name in CONTAINERS or name in PLAIN), "")
        if not base or base in PLAIN and self.has_generated_init(owner.cls.info):
            return
        if base in PLAIN:
            is_dict = base in PLAIN_DICTS
            owner.attributes[HELD] = (
                self.builtin_dict(args, kwargs, node, frame) if is_dict else self.ordered("list", args, node, frame)
            )
            return
        if "*" in kwargs:
            args = [*args, Sequence("tuple", None, kwargs["*"])] if base != "torch.nn.Sequential" else args
        made = self.builtin_dict(args, {}, node, frame) if base in DICTS else self.module_list(base, args, node, frame)
        if "*" in kwargs and base == "torch.nn.Sequential":
            made = Sequence("Sequential", None, join_all([*args, kwargs["*"]]))
        owner.attributes[HELD] = made
        for option in (made, *args[:1]):
            if isinstance(option, Dict):
                owner.attributes.update({k: v for k, v in option.items.items() if isinstance(k, str)})

    def contents(self, value: Value) -> Value:
        """What an object of such a class holds, where iterating over it means that and where something was seen to be put
        there; any other value itself."""
        held = value.attributes.get(HELD) if type(value) is Instance else None
        if held is None or held.items is not None and not held.items and not (type(held) is Dict and held.open):
            return value
        return value if self.find_member(value.cls.info, "__iter__") is not None else held

    def add_named(self, owner: Instance, name: Value, child: Value, node: ast.AST, frame: Frame) -> None:
        """`owner.add_module(name, child)`."""
        self.put_named(owner, name, child, node, frame)
        if HELD in owner.attributes:
            self.add_child(owner.attributes[HELD], name, child, node, frame)

    def put_named(self, owner: Instance, name: Value, value: Value, node: ast.AST, frame: Frame) -> None:
        """Set what the first argument of the call names."""
        if isinstance(name, Const) and isinstance(name.value, str):
            self.put_attribute(owner, name.value, value, frame)
        else:
            self.put_openly(owner, node, 0, value)

    def put_openly(self, owner: Instance, node: ast.AST, place: int, value: Value) -> None:
        """Set an attribute under the name that an argument of the call puts together, such as `f"conv{i}"`."""
        begin, end = affixes(node.args[place]) if isinstance(node, ast.Call) and len(node.args) > place else ("", "")
        if begin or end:
            stored = owner.attributes.setdefault(OPEN, Dict({}))
            name = (begin, end)
            stored.items[name] = join(stored.items[name], value) if name in stored.items else value

    def openly_put(self, owner: Instance, name: str) -> Value | None:
        """What stands under a name that was put together where it was set; None when none such fits."""
        stored = owner.attributes.get(OPEN)
        found = [value for ends, value in stored.items.items() if fits(name, *ends)] if stored is not None else []
        return join_all(found) if found else None

    def submodule(self, owner: Value, path: str, node: ast.AST, frame: Frame) -> Value:
        """`owner.get_submodule("layers.0")`."""
        for name in path.split(".") if path else ():
            held = self.contents(owner)
            if name.isdigit() and isinstance(held, Sequence):
                owner = self.item(node, held, Const(int(name)), frame)
            else:
                owner = self.attribute(owner, name, node, frame)
        return owner
