"""Python's builtins that make, order and reduce sequences."""

from __future__ import annotations

import ast

from breakscope.events import Call
from breakscope.static.frames import Frame, Raised
from breakscope.static.joins import element_of, join, join_all
from breakscope.static.numpy_numbers import is_numpy_number
from breakscope.values import (
    UNKNOWN,
    Const,
    Dict,
    External,
    Function,
    Instance,
    Method,
    Py,
    Scalar,
    Sequence,
    ShapeInt,
    Tensor,
    Value,
    holds_tensor,
    options,
)


def is_lazy(value: Value, call: ast.AST) -> bool:
    """True for a first argument that Python makes item by item: a generator, or what `zip` and its like give; `iter` and
    `reversed` of a list Dynamo holds as a list."""
    if type(value) is not Sequence or value.type != "iterator":
        return type(value) is Sequence and value.type == "generator"
    made = call.args[0] if isinstance(call, ast.Call) and call.args else None
    return isinstance(made, ast.Call) and getattr(made.func, "id", "") not in ("iter", "reversed")


class BuiltinSequences:
    """`builtin_NAME` handles a call of the builtin NAME."""

    __slots__ = ()

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
            elif is_numpy_number(value):
                self.read("range", Tensor("int", 0, (), kind="numpy"), node, frame, i)
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
        return Sequence(
            "range", None, Scalar() if known else ShapeInt() if any(a.is_shape for a in args) else Py("int")
        )

    def builtin_enumerate(self, args, kwargs, node, frame) -> Value:
        source = args[0] if args else UNKNOWN
        if (
            isinstance(source, Sequence)
            and source.items is not None
            and len(source.items) <= 12
            and source.type not in ("ModuleList",)
            and not source.home
        ):
            return Sequence("iterator", [Sequence("tuple", [Const(i), v]) for i, v in enumerate(source.items)])
        element = self.iterate(source, node, frame)
        if element is None:
            return Sequence("iterator", [])
        return Sequence("iterator", None, Sequence("tuple", [Py("int"), element]))

    def builtin_zip(self, args, kwargs, node, frame) -> Value:
        if args and all(
            isinstance(a, Sequence) and a.items is not None and a.type != "ModuleList" and not a.home for a in args
        ):
            rows = list(zip(*(a.items for a in args)))
            if len(rows) <= 12:
                return Sequence("iterator", [Sequence("tuple", list(row)) for row in rows])
        elements = [self.iterate(a, node, frame) for a in args]
        return Sequence("iterator", None, Sequence("tuple", [e if e is not None else UNKNOWN for e in elements]))

    def builtin_map(self, args, kwargs, node, frame) -> Value:
        elements = [self.iterate(a, node, frame) for a in args[1:]]
        if any(e is None for e in elements) or not args:
            return Sequence("iterator", [])
        if len(args) == 2 and isinstance(args[1], Sequence) and args[1].items is not None and len(args[1].items) <= 12:
            return Sequence("iterator", [self.call_value(args[0], [v], {}, node, frame) for v in args[1].items])
        return Sequence("iterator", None, self.call_value(args[0], elements, {}, node, frame))

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
            try:
                element = self.call_value(key, [element], {}, node, frame)
            except Raised:
                element = UNKNOWN
        if self.interesting(name):
            self.emit(Call, node, frame, detail="compared", name=name, args=(values, element), kwargs=kwargs)

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
        return (
            Scalar()
            if element.is_scalar
            else ShapeInt()
            if element.is_shape
            else Py("number")
            if not element.is_unknown
            else UNKNOWN
        )

    def extreme(self, args, kwargs, node, frame, name) -> Value:
        values = Sequence("list", list(args)) if len(args) > 1 else self.ordered("list", args, node, frame)
        if len(args) > 1 and all(isinstance(a, Const) and isinstance(a.value, int | float) for a in args):
            return Const((min if name == "min" else max)(a.value for a in args))
        self.keys_compared(values, kwargs, node, frame, name)
        source = args[0] if len(args) == 1 else UNKNOWN
        if is_lazy(source, node):
            self.emit(Call, node, frame, name=f"iterator.{name}", args=(source, element_of(source)), kwargs=kwargs)
        tensors = [v for v in args if v.is_tensor]
        if len(args) > 1 and tensors and "key" not in kwargs:
            return tensors[0]
        return join_all(args) if len(args) > 1 else element_of(values)

    def builtin_min(self, args, kwargs, node, frame) -> Value:
        return self.extreme(args, kwargs, node, frame, "min")

    def builtin_max(self, args, kwargs, node, frame) -> Value:
        return self.extreme(args, kwargs, node, frame, "max")

    def all_any(self, args, node, frame, construct) -> Value:
        lost = frame.lost
        if args and type(args[0]) is Sequence and args[0].type == "generator":
            frame.lost = lost or "call"  # a break while a generator runs: what called it is not resumed
        try:
            return self.all_any_of(args, node, frame, construct)
        finally:
            frame.lost = lost

    def all_any_of(self, args, node, frame, construct) -> Value:
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
