"""Python's builtins, and the methods of its containers, strings and numbers."""

from __future__ import annotations

import ast

from breakscope.events import Branch, Call, Format, ScalarRead
from breakscope.static.frames import Frame, Raised
from breakscope.static.joins import element_of, join, join_all
from breakscope.static.tensors import TENSOR_ONLY
from breakscope.values import (
    FALSE, NONE, TRUE, UNKNOWN, Class, Const, Dict, External, ExternalInstance, Function, Instance, Method, Py, Scalar, Sequence,
    ShapeInt, Tensor, Union, Value, holds_tensor, options,
)

CASTS = frozenset({"int", "float", "bool", "complex"})
GROWING = frozenset({"append", "add", "appendleft", "insert"})
SHRINKING = frozenset({"pop", "popleft", "clear", "remove", "discard", "popitem"})
STRING_RESULTS = {"split": "list", "rsplit": "list", "splitlines": "list", "partition": "tuple"}
STRING_BOOLS = frozenset({"startswith", "endswith", "isdigit", "isalpha", "isupper", "islower", "isidentifier"})
FOLDED_STRING_METHODS = frozenset({"startswith", "endswith", "lower", "upper", "strip", "replace", "split", "join", "format", "isdigit",
                                   "removeprefix", "removesuffix", "capitalize", "title", "lstrip", "rstrip", "partition"})


class BuiltinCalls:
    """`builtin_NAME` handles a call of the builtin NAME; what has no handler is a call like any other."""

    def call_builtin(self, name: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
        if name in CASTS:
            return self.cast_builtin(name, args, node, frame)
        handler = getattr(self, f"builtin_{name}", None)
        if handler is None:
            return _PLAIN_RESULTS.get(name, UNKNOWN)
        return handler(args, kwargs, node, frame)

    def read(self, how: str, value: Value, node: ast.AST, frame: Frame, argument: int = 0) -> None:
        """A builtin reads a tensor's value."""
        part = node.args[argument] if isinstance(node, ast.Call) and len(node.args) > argument else node
        self.emit(ScalarRead, node, frame, self.sureness(value), value=value, how=how, expression=self.text(part, frame.module))

    def cast_builtin(self, name: str, args: list[Value], node: ast.AST, frame: Frame) -> Value:
        if not args:
            return Const({"int": 0, "float": 0.0, "bool": False}.get(name, 0))
        results = []
        for value in options(args[0]):
            if value.is_tensor:
                self.read(name, value, node, frame)
                results.append(Scalar(name))
            elif isinstance(value, Instance):
                if name == "bool":
                    truth = self.truth_of_instance(value, node, frame)
                    results.append(Const(truth) if truth is not None else Py("bool"))
                else:
                    method = self.attribute(value, f"__{name}__", node, frame)
                    results.append(self.call_value(method, [], {}, node, frame) if isinstance(method, Function) else Py(name))
            elif value.is_const:
                try:
                    results.append(Const({"int": int, "float": float, "bool": bool, "complex": complex}[name](value.value)))
                except (TypeError, ValueError, OverflowError):
                    results.append(Py(name))
            elif value.is_shape:
                results.append(value if name == "int" else Py(name, "shape"))
            elif value.is_scalar:
                results.append(value)
            else:
                results.append(Py(name, getattr(value, "source", "")))
        return join_all(results)

    def builtin_len(self, args, kwargs, node, frame) -> Value:
        value = args[0] if args else UNKNOWN
        if isinstance(value, Sequence) and value.items is not None and not value.home:
            return Const(len(value.items))
        if isinstance(value, Dict) and not value.open and not value.home:
            return Const(len(value.items))
        if isinstance(value, Const) and hasattr(value.value, "__len__"):
            return Const(len(value.value))
        if isinstance(value, Instance):
            method = self.attribute(value, "__len__", node, frame)
            if isinstance(method, Function):
                return self.call_value(method, [], {}, node, frame)
        if isinstance(value, Sequence | Dict) and value.home and frame.emits:
            self.reads.setdefault((id(value), ""), (frame.activation, node))
        return ShapeInt() if any(o.is_tensor for o in options(value)) else Py("int")

    def builtin_range(self, args, kwargs, node, frame) -> Value:
        for i, value in enumerate(args):
            if value.is_tensor:
                self.read("range", value, node, frame, i)
        numbers = [a.value for a in args if a.is_const and isinstance(a.value, int)]
        if len(numbers) == len(args) and numbers:
            try:
                wanted = range(*numbers)
            except (TypeError, ValueError):
                return UNKNOWN
            if len(wanted) <= 12:
                return Sequence("range", [Const(i) for i in wanted])
            return Sequence("range", None, Py("int"))
        known = any(a.is_scalar for a in args)
        return Sequence("range", None, Scalar() if known else ShapeInt() if any(a.is_shape for a in args) else Py("int"))

    def builtin_enumerate(self, args, kwargs, node, frame) -> Value:
        source = args[0] if args else UNKNOWN
        if isinstance(source, Sequence) and source.items is not None and len(source.items) <= 12 and source.type not in (
                "ModuleList",) and not source.home:
            return Sequence("iterator", [Sequence("tuple", [Const(i), v]) for i, v in enumerate(source.items)])
        element = self.iterate(source, node, frame)
        if element is None:
            return Sequence("iterator", [])
        return Sequence("iterator", None, Sequence("tuple", [Py("int"), element]))

    def builtin_zip(self, args, kwargs, node, frame) -> Value:
        if args and all(isinstance(a, Sequence) and a.items is not None and a.type != "ModuleList" and not a.home for a in args):
            rows = list(zip(*(a.items for a in args)))
            if len(rows) <= 12:
                return Sequence("iterator", [Sequence("tuple", list(row)) for row in rows])
        elements = [self.iterate(a, node, frame) for a in args]
        return Sequence("iterator", None, Sequence("tuple", [e if e is not None else UNKNOWN for e in elements]))

    def builtin_map(self, args, kwargs, node, frame) -> Value:
        elements = [self.iterate(a, node, frame) for a in args[1:]]
        if any(e is None for e in elements) or not args:
            return Sequence("iterator", [])
        lost, frame.lost = frame.lost, frame.lost or "loop"
        try:
            if len(args) == 2 and isinstance(args[1], Sequence) and args[1].items is not None and len(args[1].items) <= 12:
                return Sequence("iterator", [self.call_value(args[0], [v], {}, node, frame) for v in args[1].items])
            return Sequence("iterator", None, self.call_value(args[0], elements, {}, node, frame))
        finally:
            frame.lost = lost

    def builtin_filter(self, args, kwargs, node, frame) -> Value:
        element = self.iterate(args[1], node, frame) if len(args) > 1 else UNKNOWN
        if element is None:
            return Sequence("iterator", [])
        verdict = element if args[0].is_none else self.call_value(args[0], [element], {}, node, frame)
        self.truth_of(verdict, node, frame, "filter")
        return Sequence("iterator", None, element)

    def ordered(self, type_: str, args, node, frame, keep_order: bool = True) -> Value:
        if not args:
            return Sequence(type_, [])
        source = args[0]
        if isinstance(source, Sequence) and source.items is not None and keep_order:
            return Sequence(type_, list(source.items))
        if isinstance(source, Dict) and not source.open:
            return Sequence(type_, [Const(k) for k in source.items])
        if isinstance(source, Instance) and self.field_names(source):
            return Sequence(type_, [source.attributes.get(f, UNKNOWN) for f in self.field_names(source)])
        element = self.iterate(source, node, frame)
        return Sequence(type_, None, element) if element is not None else Sequence(type_, [])

    def builtin_list(self, args, kwargs, node, frame) -> Value:
        return self.ordered("list", args, node, frame)

    def builtin_tuple(self, args, kwargs, node, frame) -> Value:
        return self.ordered("tuple", args, node, frame)

    def builtin_set(self, args, kwargs, node, frame) -> Value:
        return self.ordered("set", args, node, frame)

    builtin_frozenset = builtin_set

    def builtin_iter(self, args, kwargs, node, frame) -> Value:
        return self.ordered("iterator", args, node, frame)

    def builtin_reversed(self, args, kwargs, node, frame) -> Value:
        made = self.ordered("iterator", args, node, frame)
        if made.items is not None:
            made.items.reverse()
        return made

    def builtin_sorted(self, args, kwargs, node, frame) -> Value:
        made = self.ordered("list", args, node, frame, keep_order=False)
        self.keys_compared(made, kwargs, node, frame, "sorted")
        return made

    def keys_compared(self, values: Sequence, kwargs: dict[str, Value], node: ast.AST, frame: Frame, name: str) -> None:
        """sorted, min and max compare elements, or what `key` makes of them."""
        element = element_of(values)
        key = kwargs.get("key")
        if isinstance(key, Function | Method | External):
            lost, frame.lost = frame.lost, frame.lost or "loop"
            try:
                element = self.call_value(key, [element], {}, node, frame)
            except Raised:
                element = UNKNOWN
            frame.lost = lost
        if self.interesting(name):
            self.emit(Call, node, frame, name=name, args=(values, element), kwargs=kwargs)

    def builtin_next(self, args, kwargs, node, frame) -> Value:
        found = self.iterate(args[0], node, frame) if args else UNKNOWN
        if isinstance(args[0], Sequence) and args[0].items and args[0].type == "iterator":
            found = args[0].items[0]
        if len(args) > 1:
            return join(found if found is not None else UNKNOWN, args[1])
        return found if found is not None else UNKNOWN

    def builtin_dict(self, args, kwargs, node, frame) -> Value:
        made = Dict({}, UNKNOWN)
        source = args[0] if args else None
        if isinstance(source, Dict):
            made = Dict(dict(source.items), source.element, source.open)
        elif source is not None:
            pairs = source.items if isinstance(source, Sequence) and source.items is not None else None
            for pair in pairs if pairs is not None else [self.iterate(source, node, frame) or UNKNOWN]:
                if isinstance(pair, Sequence) and pair.items and len(pair.items) == 2:
                    self.put(made, pair.items[0], pair.items[1])
                else:
                    made.open = True
            if pairs is None:
                made.open = True
        for name, value in kwargs.items():
            if name in ("*", "**"):
                made.open = True
            else:
                made.items[name] = value
        return made

    def builtin_sum(self, args, kwargs, node, frame) -> Value:
        element = self.iterate(args[0], node, frame) if args else None
        if element is None:
            return args[1] if len(args) > 1 else Const(0)
        if holds_tensor(element):
            return Tensor(sure=getattr(element, "sure", False))
        return Scalar() if element.is_scalar else ShapeInt() if element.is_shape else Py("number") if not element.is_unknown else UNKNOWN

    def extreme(self, args, kwargs, node, frame, name) -> Value:
        values = Sequence("list", list(args)) if len(args) > 1 else self.ordered("list", args, node, frame)
        if len(args) > 1 and all(isinstance(a, Const) and isinstance(a.value, int | float) for a in args):
            return Const((min if name == "min" else max)(a.value for a in args))
        self.keys_compared(values, kwargs, node, frame, name)
        tensors = [v for v in args if v.is_tensor]
        if len(args) > 1 and tensors and "key" not in kwargs:
            return tensors[0]
        return join_all(args) if len(args) > 1 else element_of(values)

    def builtin_min(self, args, kwargs, node, frame) -> Value:
        return self.extreme(args, kwargs, node, frame, "min")

    def builtin_max(self, args, kwargs, node, frame) -> Value:
        return self.extreme(args, kwargs, node, frame, "max")

    def all_any(self, args, node, frame, construct) -> Value:
        source = args[0] if args else UNKNOWN
        items = source.items if isinstance(source, Sequence) and source.items is not None else None
        if items is None:
            element = self.iterate(source, node, frame)
            if element is None:
                return Const(construct == "all")
            self.truth_of(element, node, frame, construct)
            return Py("bool")
        unknown = False
        for item in items:
            truth = self.truth_of(item, node, frame, construct)
            if truth is (construct == "any"):
                return Const(truth)
            unknown = unknown or truth is None
        return Py("bool") if unknown else Const(construct == "all")

    def builtin_all(self, args, kwargs, node, frame) -> Value:
        return self.all_any(args, node, frame, "all")

    def builtin_any(self, args, kwargs, node, frame) -> Value:
        return self.all_any(args, node, frame, "any")

    def builtin_abs(self, args, kwargs, node, frame) -> Value:
        value = args[0] if args else UNKNOWN
        return Const(abs(value.value)) if isinstance(value, Const) and isinstance(value.value, int | float) else value

    def builtin_round(self, args, kwargs, node, frame) -> Value:
        value = args[0] if args else UNKNOWN
        if value.is_tensor:
            if self.interesting("round"):
                self.emit(Call, node, frame, name="round", args=tuple(args), kwargs=kwargs)
            return value
        if isinstance(value, Const) and isinstance(value.value, float):
            return Const(round(value.value))
        return value if not isinstance(value, Py) else Py("int", value.source)

    def builtin_pow(self, args, kwargs, node, frame) -> Value:
        return self.tensor_operator(ast.Pow, *args[:2]) if len(args) > 1 and any(a.is_tensor for a in args[:2]) else Py("number")

    def builtin_divmod(self, args, kwargs, node, frame) -> Value:
        part = ShapeInt() if any(a.is_shape for a in args) else args[0] if args and args[0].is_tensor else Py("int")
        return Sequence("tuple", [part, part])

    def builtin_str(self, args, kwargs, node, frame) -> Value:
        value = args[0] if args else Const("")
        if holds_tensor(value):
            self.emit(Format, node, frame, self.sureness(value), value=value, construct="str")
            return Py("str", "tensor")
        if value.is_const:
            return Const(str(value.value))
        return Py("str", "shape") if value.is_shape or isinstance(value, Sequence) and value.type == "size" else Py("str")

    def builtin_repr(self, args, kwargs, node, frame) -> Value:
        if args and holds_tensor(args[0]):
            self.emit(Format, node, frame, self.sureness(args[0]), value=args[0], construct="repr")
        return Py("str")

    def builtin_isinstance(self, args, kwargs, node, frame) -> Value:
        if len(args) < 2:
            return UNKNOWN
        verdicts = {self.is_instance(o, args[1]) for o in options(args[0])}
        verdict = verdicts.pop() if len(verdicts) == 1 else None
        return Py("bool", "config") if verdict is None else Const(verdict)

    def builtin_issubclass(self, args, kwargs, node, frame) -> Value:
        return Py("bool", "config")

    def builtin_callable(self, args, kwargs, node, frame) -> Value:
        value = args[0] if args else UNKNOWN
        if isinstance(value, Function | Class | External | Method) or self.is_module(value):
            return TRUE
        return FALSE if isinstance(value, Const | Tensor | Sequence | Dict | ShapeInt) else Py("bool", "config")

    def builtin_type(self, args, kwargs, node, frame) -> Value:
        value = args[0] if len(args) == 1 else UNKNOWN
        if isinstance(value, Instance):
            return value.cls
        if value.is_tensor:
            return External("torch.Tensor") if value.sure and value.kind == "" else UNKNOWN
        if isinstance(value, Const) and value.value is not None:
            return External(type(value.value).__name__)
        if isinstance(value, Sequence) and value.type in ("list", "tuple", "set"):
            return External(value.type)
        return External("dict") if isinstance(value, Dict) else UNKNOWN

    def builtin_hasattr(self, args, kwargs, node, frame) -> Value:
        if len(args) == 2 and isinstance(args[1], Const) and isinstance(args[1].value, str):
            owner, name = args[0], args[1].value
            if isinstance(owner, Instance):
                if name in owner.attributes or self.find_member(owner.cls.info, name) is not None:
                    return TRUE
            if isinstance(owner, Tensor) and name in ("shape", "dtype", "device"):
                return TRUE
            if isinstance(owner, Tensor) and name in ("keys", "items", "values", "append", "logits", "last_hidden_state"):
                return FALSE
        return Py("bool", "config")

    def builtin_getattr(self, args, kwargs, node, frame) -> Value:
        if len(args) < 2:
            return UNKNOWN
        if isinstance(args[1], Const) and isinstance(args[1].value, str):
            value = self.attribute(args[0], args[1].value, node, frame)
            if len(args) > 2 and (value.is_unknown or isinstance(args[0], Instance) and args[1].value not in args[0].attributes
                                  and self.find_member(args[0].cls.info, args[1].value) is None):
                return args[2] if value.is_unknown and isinstance(args[0], Instance) and not self.open_object(args[0]) else join(value, args[2])
            return value
        return UNKNOWN

    def open_object(self, owner: Instance) -> bool:
        """True when an object may have attributes that the source does not show."""
        names = self.external_bases(owner.cls.info)
        return "?" in names or any(n not in ("object", "torch.nn.Module", "typing.NamedTuple", "abc.ABC", "typing.Generic") for n in names)

    def builtin_setattr(self, args, kwargs, node, frame) -> Value:
        if len(args) == 3 and isinstance(args[0], Instance) and isinstance(args[1], Const) and isinstance(args[1].value, str) and not frame.emits:
            args[0].attributes[args[1].value] = args[2]
        return NONE

    def builtin_property(self, args, kwargs, node, frame) -> Value:
        if args and isinstance(args[0], Function):
            args[0].info.marks |= {"property"}
            return args[0]
        return UNKNOWN

    def builtin_vars(self, args, kwargs, node, frame) -> Value:
        return Dict(args[0].attributes, open=True) if args and isinstance(args[0], Instance) else UNKNOWN

    def builtin_locals(self, args, kwargs, node, frame) -> Value:
        return Dict({k: v for k, v in frame.names.items() if "." not in k})

    def builtin_globals(self, args, kwargs, node, frame) -> Value:
        return Dict({k: self.resolve(v) for k, v in self.module_names(frame.module).items()}, open=True)

    def builtin_slice(self, args, kwargs, node, frame) -> Value:
        for i, value in enumerate(args):
            if value.is_tensor:
                self.read("slice", value, node, frame, i)
        bounds = [NONE, *args, NONE] if len(args) == 1 else [*args, NONE, NONE]
        return ExternalInstance("slice", tuple(bounds[:3]))

    # --- attributes and methods of Python values

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
        if kind is Sequence and name in ("values", "indices") and owner.items and len(owner.items) == 2 and owner.items[0].is_tensor:
            return owner.items[0 if name == "values" else 1]
        if kind in (ShapeInt, Scalar) and name in ("real", "numerator"):
            return owner
        if kind is Py and owner.type == "device" and name in ("type", "index"):
            return Py("str", "environment")
        if kind is Py and name in ("dtype", "is_floating_point", "itemsize"):
            return Py("bool", "config")
        return Method(owner, name)

    def call_python_method(self, owner: Value, name: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
        if isinstance(owner, Sequence):
            return self.call_sequence_method(owner, name, args, kwargs, node, frame)
        if isinstance(owner, Dict):
            return self.call_dict_method(owner, name, args, kwargs, node, frame)
        if isinstance(owner, Const) and isinstance(owner.value, str) or isinstance(owner, Py) and owner.type == "str":
            return self.call_string_method(owner, name, args, kwargs, node, frame)
        if owner.is_scalar:
            return owner
        if isinstance(owner, Py) and owner.type in ("int", "float", "number"):
            return Py("bool") if name == "is_integer" else owner
        return UNKNOWN

    def call_sequence_method(self, owner: Sequence, name: str, args, kwargs, node, frame) -> Value:
        if name in ("index", "remove") and self.interesting(f"{owner.type}.{name}"):
            self.emit(Call, node, frame, self.args_certainty(args), name=f"{owner.type}.{name}", receiver=owner, args=tuple(args), kwargs=kwargs)
        if name in GROWING and args:
            self.extend(owner, args[-1], frame, node, "append")
            return NONE
        if name in ("extend", "update", "extendleft") and args:
            self.extend(owner, args[0], frame, node, "extend")
            return NONE
        if name in SHRINKING:
            if name in ("pop", "popleft"):
                self.emit_mutate(node, frame, owner, name, UNKNOWN)
                value = element_of(owner)
                if owner.items is not None and not (owner.home and frame.emits):
                    owner.element, owner.items = value, None
                return value
            self.emit_mutate(node, frame, owner, name, UNKNOWN)
            if name == "clear" and not (owner.home and frame.emits):
                owner.items = []
            return NONE
        if name == "sort":
            self.keys_compared(owner, kwargs, node, frame, "list.sort")
            return NONE
        if name == "numel":
            return ShapeInt()
        if name in ("index", "count"):
            return Py("int")
        if name in ("copy", "union", "intersection", "difference", "symmetric_difference"):
            return Sequence(owner.type, list(owner.items) if owner.items is not None and name == "copy" else None, element_of(owner))
        if name in ("issubset", "issuperset", "isdisjoint"):
            return Py("bool")
        if name == "__len__":
            return self.builtin_len([owner], {}, node, frame)
        return UNKNOWN

    def call_dict_method(self, owner: Dict, name: str, args, kwargs, node, frame) -> Value:
        values = [*owner.items.values(), *([owner.element] if owner.open else [])]
        if name in ("values", "items", "keys"):
            keys = [Const(k) for k in owner.items]
            if owner.open or len(keys) > 12:
                key = Py("str") if keys and all(isinstance(k, str) for k in owner.items) else UNKNOWN
                element = join_all(values)
                return Sequence("iterator", None, {"values": element, "keys": key}.get(name) or Sequence("tuple", [key, element]))
            rows = {"values": list(owner.items.values()), "keys": keys}
            return Sequence("iterator", rows.get(name) or [Sequence("tuple", [k, v]) for k, v in zip(keys, owner.items.values())]
                            if name != "values" or owner.items else [])
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
            if known:
                return found
            return missing if not owner.open and args[0].is_const else join(found, missing)
        if name == "update":
            new = {**(args[0].items if args and isinstance(args[0], Dict) else {}), **{k: v for k, v in kwargs.items() if k != "**"}}
            if any(k not in owner.items for k in new) or not new:
                self.emit_mutate(node, frame, owner, "update", join_all(new.values()))
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


_PLAIN_RESULTS: dict[str, Value] = {
    "print": NONE, "id": Py("int"), "hash": Py("int"), "ord": Py("int"), "chr": Py("str"), "input": Py("str", "environment"),
    "open": ExternalInstance("open"), "object": ExternalInstance("object"), "bytes": Py("bytes"), "format": Py("str"),
    "breakpoint": NONE, "dir": Sequence("list", None, Py("str")), "classmethod": UNKNOWN, "staticmethod": UNKNOWN,
}
