"""Attributes and methods of Python's containers, text and numbers."""

from __future__ import annotations

import ast

from breakscope.events import Call, Format
from breakscope.static.apart import MODULES
from breakscope.static.frames import Frame
from breakscope.static.joins import element_of, join, join_all
from breakscope.static.numpy_numbers import is_numpy_number
from breakscope.static.tensors import TENSOR_ONLY
from breakscope.values import (
    NONE,
    UNKNOWN,
    Const,
    Dict,
    ExternalInstance,
    Method,
    Py,
    Scalar,
    Sequence,
    ShapeInt,
    Tensor,
    Value,
    holds_tensor,
)

GROWING = frozenset({"append", "add", "appendleft", "insert"})
ADDING = frozenset({"add_module", "register_module"})
SHRINKING = frozenset({"pop", "popleft", "clear", "remove", "discard", "popitem"})
STRING_RESULTS = {"split": "list", "rsplit": "list", "splitlines": "list", "partition": "tuple"}
STRING_BOOLS = frozenset({"startswith", "endswith", "isdigit", "isalpha", "isupper", "islower", "isidentifier"})
FOLDED_STRING_METHODS = frozenset(
    """
    startswith endswith lower upper strip replace split join format isdigit removeprefix removesuffix capitalize
    title lstrip rstrip partition
    """.split()
)


class PythonMethods:
    """What methods of Python values return."""

    __slots__ = ()

    def builtin_attribute(self, owner: Value, name: str, node: ast.AST, frame: Frame) -> Value:
        kind = type(owner)
        if kind is Py and owner.type in ("object", "unknown"):
            if owner.source == "argument" and name in TENSOR_ONLY:
                return self.tensor_attribute(Tensor(sure=False, origin="argument"), name, node, frame)
            return Py("unknown", owner.source) if owner.source else UNKNOWN
        if kind is Py and owner.type.startswith("enum") and name in ("value", "name"):
            return Py("str", owner.source)
        if kind is ExternalInstance:
            return self.external_instance_attribute(owner, name, node, frame)
        if kind is Sequence and name in owner.names and owner.items and len(owner.items) == len(owner.names):
            return owner.items[owner.names.index(name)]
        if kind is Dict and name in owner.items and not hasattr(dict, name):
            return owner.items[name]  # of a ModuleDict
        if (
            kind is Sequence
            and name in ("values", "indices")
            and owner.items
            and len(owner.items) == 2
            and owner.items[0].is_tensor
        ):
            return owner.items[0 if name == "values" else 1]
        if kind in (ShapeInt, Scalar) and name in ("real", "numerator"):
            return owner
        if kind is Py and owner.type == "device" and name in ("type", "index"):
            return Py("str", "environment")
        if kind is Py and name in ("dtype", "is_floating_point", "itemsize"):
            return Py("bool", "config")
        return Method(owner, name)

    def call_python_method(
        self, owner: Value, name: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> Value:
        if isinstance(owner, Sequence | Dict) and name in ADDING and len(args) == 2:
            self.add_child(owner, *args, node, frame)
            return NONE
        if isinstance(owner, Sequence):
            return self.call_sequence_method(owner, name, args, kwargs, node, frame)
        if isinstance(owner, Dict):
            return self.call_dict_method(owner, name, args, kwargs, node, frame)
        if isinstance(owner, Const) and isinstance(owner.value, str) or isinstance(owner, Py) and owner.type == "str":
            return self.call_string_method(owner, name, args, kwargs, node, frame)
        if owner.is_scalar:
            return owner
        if is_numpy_number(owner):
            found = self.numpy_number_method(owner, name, args, node, frame)
            return owner if found is None else found
        if frame.emits and isinstance(owner, Py) and self.interesting(f"{owner.type}.{name}"):
            full = f"{owner.type}.{name}"
            self.emit(Call, node, frame, name=full, receiver=owner, args=tuple(args), kwargs=kwargs)
        if isinstance(owner, Py) and owner.type in ("int", "float", "number"):
            return Py("bool") if name == "is_integer" else owner
        return UNKNOWN

    def add_child(self, owner: Sequence | Dict, key: Value, child: Value, node: ast.AST, frame: Frame) -> None:
        """`layers.add_module("norm", norm)` of a Sequential, ModuleList or ModuleDict."""
        if isinstance(owner, Sequence):
            self.extend(owner, child, frame, node, "append")
            owner.names += (str(key.value) if key.is_const else "",)
        else:
            self.put(owner, key, child)

    def call_sequence_method(self, owner: Sequence, name: str, args, kwargs, node, frame) -> Value:
        if frame.emits and self.interesting(f"{owner.type}.{name}"):
            self.emit(
                Call,
                node,
                frame,
                self.args_certainty(args),
                name=f"{owner.type}.{name}",
                receiver=owner,
                args=tuple(args),
                kwargs=kwargs,
            )
        if name in GROWING and args:
            self.extend(owner, args[-1], frame, node, "append")
            if name == "insert" and owner.items and args[0].is_const and type(args[0].value) is int:
                owner.items.insert(args[0].value, owner.items.pop())
            return NONE
        if name == "children" and owner.type in MODULES:
            return Sequence("iterator", owner.items and [*owner.items], owner.element)
        if name in ("extend", "update", "extendleft") and args:
            self.extend(owner, args[0], frame, node, "extend")
            return NONE
        if name in SHRINKING:
            if name in ("pop", "popleft"):
                self.emit_mutate(node, frame, owner, name, UNKNOWN)
                at = 0 if name == "popleft" else args[0].value if args and args[0].is_const else -1 if not args else None
                is_known = owner.items and type(at) is int and -len(owner.items) <= at < len(owner.items)
                is_sure = not frame.lost and not frame.undecided and not (owner.home and frame.emits)
                if is_known and is_sure and owner.type != "set":
                    return owner.items.pop(at)
                value = element_of(owner)
                if owner.items is not None and not (owner.home and frame.emits):
                    owner.element, owner.items = value, None
                return value
            self.emit_mutate(node, frame, owner, name, UNKNOWN)
            if name == "clear" and not (owner.home and frame.emits):
                owner.items = []
            return NONE
        if name == "reverse" and owner.items is not None and not (owner.home and frame.emits):
            owner.items = owner.items[::-1] if not frame.lost else [join_all(owner.items)] * len(owner.items)
            return NONE
        if name == "sort":
            self.keys_compared(owner, kwargs, node, frame, "list.sort")
            return NONE
        if name == "numel":
            return ShapeInt()
        if name in ("index", "count"):
            return _counted(owner, name, args)
        if name in ("copy", "union", "intersection", "difference", "symmetric_difference"):
            return Sequence(
                owner.type, list(owner.items) if owner.items is not None and name == "copy" else None, element_of(owner)
            )
        if name in ("issubset", "issuperset", "isdisjoint"):
            return Py("bool")
        if name == "__len__":
            return self.builtin_len([owner], {}, node, frame)
        return UNKNOWN

    def call_dict_method(self, owner: Dict, name: str, args, kwargs, node, frame) -> Value:
        values = [*owner.items.values(), *([owner.element] if owner.open else [])]
        if name in ("values", "items", "keys"):
            if owner.open or len(owner.items) > 12:
                key = Py("str") if set(map(type, owner.items)) == {str} else UNKNOWN
                element = join_all(values) if name != "keys" else UNKNOWN
                return Sequence(
                    "iterator", None, {"values": element, "keys": key}.get(name) or Sequence("tuple", [key, element])
                )
            keys = [Const(k) for k in owner.items]
            rows = {"values": list(owner.items.values()), "keys": keys}
            return Sequence(
                "iterator",
                rows.get(name) or [Sequence("tuple", [k, v]) for k, v in zip(keys, owner.items.values())]
                if name != "values" or owner.items
                else [],
            )
        if name in ("get", "pop", "setdefault") and args:
            found = self.dict_item(owner, args[0])
            missing = args[1] if len(args) > 1 else NONE
            known = args[0].is_const and args[0].value in owner.items
            if name == "pop":
                self.emit_mutate(node, frame, owner, "pop", UNKNOWN, args[0])
                if known and not (owner.home and frame.emits):
                    del owner.items[args[0].value]
            if name == "setdefault" and not known:
                self.emit_mutate(node, frame, owner, "setdefault", missing, args[0])
                self.put(owner, args[0], missing)
                if owner.home:
                    self.note_nested(owner, owner.home)
            if known:
                return found
            return missing if not owner.open and args[0].is_const else join(found, missing)
        if name == "update":
            new = {
                **(args[0].items if args and isinstance(args[0], Dict) else {}),
                **{k: v for k, v in kwargs.items() if k != "**"},
            }
            if any(k not in owner.items for k in new) or not new:
                self.emit_mutate(node, frame, owner, "update", join_all(new.values()))
            elif self.driver is not None and owner.home:
                self.note_mutation(owner, "update", frame, node)
            if not (owner.home and frame.emits):
                owner.items.update(new)
                owner.open = owner.open or not new or bool(args and not isinstance(args[0], Dict)) or "**" in kwargs
            return NONE
        if name == "copy":
            return Dict(dict(owner.items), owner.element, owner.open)
        if name == "clear":
            self.emit_mutate(node, frame, owner, "clear", UNKNOWN)
            return NONE
        if name == "__contains__" and args:
            found = self.contains(node, args[0], owner, node, frame)
            return Py("bool") if found is None else Const(found)
        return UNKNOWN

    def call_string_method(self, owner: Value, name: str, args, kwargs, node, frame) -> Value:
        if name == "format":
            tensors = [v for v in (*args, *kwargs.values()) if holds_tensor(v)]
            if tensors:
                self.emit(Format, node, frame, value=tensors[0], construct="format")
                return Py("str", "tensor")
        constant = isinstance(owner, Const) and not kwargs and all(isinstance(a, Const) for a in args)
        if constant and name in FOLDED_STRING_METHODS:
            try:
                result = getattr(owner.value, name)(*(a.value for a in args))
            except (TypeError, ValueError, AttributeError, IndexError, KeyError):
                return Py("str")
            if isinstance(result, list | tuple):
                return Sequence(type(result).__name__, [Const(r) for r in result])
            return Const(result)
        if name in STRING_RESULTS:
            return Sequence(STRING_RESULTS[name], None, Py("str"))
        if name in STRING_BOOLS:
            return Py("bool", getattr(owner, "source", ""))
        if name == "encode":
            return Py("bytes")
        return Py("int") if name in ("find", "index", "count", "rfind") else Py("str", getattr(owner, "source", ""))


def _counted(owner: Sequence, name: str, args: list[Value]) -> Value:
    """`items.index(value)` and `items.count(value)` of known items."""
    known = owner.items is not None and not owner.home and all(value.is_const for value in (*owner.items, *args))
    items = [item.value for item in owner.items] if known else []
    if len(args) != 1 or not known or name == "index" and args[0].value not in items:
        return Py("int")
    return Const(getattr(items, name)(args[0].value))
