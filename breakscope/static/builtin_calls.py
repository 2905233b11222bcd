"""Python's builtins: casts, types, attributes, text."""

from __future__ import annotations

import ast

from breakscope.events import Call, Format, ScalarRead
from breakscope.static.computed_names import MOST_COMPUTED, SHORTEST_AFFIX, affixes, fits
from breakscope.static.frames import Frame
from breakscope.static.joins import join, join_all
from breakscope.static.module_containers import OPEN
from breakscope.static.modules import Import
from breakscope.static.numpy_numbers import is_numpy_number
from breakscope.values import (
    FALSE,
    NONE,
    TRUE,
    UNKNOWN,
    Class,
    Const,
    Dict,
    External,
    ExternalInstance,
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

TORCH_NN, ANY_MODULE_CLASS = External("torch.nn"), External("torch.nn.*")
GOES_OVER = frozenset("len list tuple set sorted reversed enumerate zip map filter iter next sum min max any all".split())
CASTS = frozenset({"int", "float", "bool", "complex"})


class BuiltinCalls:
    """`builtin_NAME` handles a call of the builtin NAME; what has no handler is a call like any other."""

    __slots__ = ()

    def call_builtin(
        self, name: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> Value:
        if name in CASTS:
            return self.cast_builtin(name, args, node, frame)
        handler = getattr(self, f"builtin_{name}", None)
        if handler is None:
            return _PLAIN_RESULTS.get(name, UNKNOWN)
        if name in GOES_OVER:
            args = [self.contents(value) for value in args]
        return handler(args, kwargs, node, frame)

    def read(self, how: str, value: Value, node: ast.AST, frame: Frame, argument: int = 0) -> None:
        """A builtin reads a tensor's value."""
        part = node.args[argument] if isinstance(node, ast.Call) and len(node.args) > argument else node
        self.emit(
            ScalarRead,
            node,
            frame,
            self.sureness(value),
            value=value,
            how=how,
            expression=self.text(part, frame.module),
        )

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
                    truth = self.truth_of_instance(value, node, frame, called=True)
                    results.append(Const(truth) if truth is not None else Py("bool"))
                else:
                    method = self.attribute(value, f"__{name}__", node, frame)
                    results.append(
                        self.call_value(method, [], {}, node, frame) if isinstance(method, Function) else Py(name)
                    )
            elif is_numpy_number(value):
                self.read_numpy_number(name, value, node, frame)
                results.append(Py(name))
            elif value.is_const:
                try:
                    results.append(
                        Const({"int": int, "float": float, "bool": bool, "complex": complex}[name](value.value))
                    )
                except (TypeError, ValueError, OverflowError):
                    results.append(Py(name))
            elif value.is_shape:
                results.append(value if name == "int" else Py(name, "shape"))
            elif value.is_scalar:
                results.append(value)
            else:
                results.append(Py(name, getattr(value, "source", "")))
        return join_all(results)

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
        return (
            self.tensor_operator(ast.Pow, *args[:2])
            if len(args) > 1 and any(a.is_tensor for a in args[:2])
            else Py("number")
        )

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
        return (
            Py("str", "shape") if value.is_shape or isinstance(value, Sequence) and value.type == "size" else Py("str")
        )

    def builtin_repr(self, args, kwargs, node, frame) -> Value:
        if args and holds_tensor(args[0]):
            self.emit(Format, node, frame, self.sureness(args[0]), value=args[0], construct="repr")
        return Py("str")

    def builtin_isinstance(self, args, kwargs, node, frame) -> Value:
        if len(args) < 2:
            return UNKNOWN
        if frame.emits and _is_nested(args[1]) and self.interesting("object.__instancecheck__"):
            self.emit(Call, node, frame, name="object.__instancecheck__", args=tuple(args), kwargs={})
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
            if isinstance(owner, Tensor) and name in (
                "keys",
                "items",
                "values",
                "append",
                "logits",
                "last_hidden_state",
            ):
                return FALSE
        return Py("bool", "config")

    def builtin_getattr(self, args, kwargs, node, frame) -> Value:
        if len(args) < 2:
            return UNKNOWN
        if isinstance(args[1], Const) and isinstance(args[1].value, str):
            value = self.attribute(args[0], args[1].value, node, frame)
            if len(args) > 2 and (
                value.is_unknown
                or isinstance(args[0], Instance)
                and args[1].value not in args[0].attributes
                and self.find_member(args[0].cls.info, args[1].value) is None
            ):
                return (
                    args[2]
                    if value.is_unknown and isinstance(args[0], Instance) and not self.open_object(args[0])
                    else join(value, args[2])
                )
            return value
        if args[0] == TORCH_NN:
            return ANY_MODULE_CLASS
        return self.attribute_of_computed_name(args[0], node, frame) if isinstance(args[0], Instance) else UNKNOWN

    def attribute_of_computed_name(self, owner: Instance, node: ast.AST, frame: Frame) -> Value:
        """`getattr(self, f"{kind}_loss")`: any method or attribute whose name begins and ends so."""
        begin, end = affixes(node.args[1]) if isinstance(node, ast.Call) and len(node.args) > 1 else ("", "")
        stored = owner.attributes.get(OPEN)
        if stored is not None and (begin, end) in stored.items:
            return stored.items[begin, end]
        if len(begin) + len(end) < SHORTEST_AFFIX:
            return UNKNOWN
        names = {
            name
            for cls in self.mro(owner.cls.info)
            for name in (self.members(cls) if cls.members is None else cls.members)
            if fits(name, begin, end)
        }
        names |= {name for name in owner.attributes if fits(name, begin, end)}
        if not 0 < len(names) <= MOST_COMPUTED:
            return UNKNOWN
        return join_all([self.attribute(owner, name, node, frame) for name in sorted(names)])

    def open_object(self, owner: Instance) -> bool:
        """True when an object may have attributes that the source does not show."""
        names = self.external_bases(owner.cls.info)
        return "?" in names or any(
            n not in ("object", "torch.nn.Module", "typing.NamedTuple", "abc.ABC", "typing.Generic") for n in names
        )

    def builtin_setattr(self, args, kwargs, node, frame) -> Value:
        if len(args) != 3 or not isinstance(args[0], Instance) or frame.emits:
            return NONE
        owner, name, value = args
        if isinstance(name, Const) and isinstance(name.value, str):
            self.note_outside(owner, name.value, value, owner.attributes.get(name.value, UNKNOWN), frame, node)
            owner.attributes[name.value] = value
        else:
            self.put_openly(owner, node, 1, value)
        return NONE

    def builtin_staticmethod(self, args, kwargs, node, frame) -> Value:
        """`read = staticmethod(read)` in a class body."""
        if args and isinstance(args[0], Function):
            args[0].info.marks |= {"staticmethod"}
        return args[0] if args else UNKNOWN

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
        names = self.module_names(frame.module)  # what is imported stays unknown: to look at all of it costs too much
        return Dict({k: v for k, v in names.items() if type(v) is not Import}, open=True)

    def builtin_slice(self, args, kwargs, node, frame) -> Value:
        for i, value in enumerate(args):
            if value.is_tensor:
                self.read("slice", value, node, frame, i)
        bounds = [NONE, *args, NONE] if len(args) == 1 else [*args, NONE, NONE]
        return ExternalInstance("slice", tuple(bounds[:3]))


_PLAIN_RESULTS: dict[str, Value] = {
    "print": NONE,
    "id": Py("int"),
    "hash": Py("int"),
    "ord": Py("int"),
    "chr": Py("str"),
    "input": Py("str", "environment"),
    "open": ExternalInstance("open"),
    "object": ExternalInstance("object"),
    "bytes": Py("bytes"),
    "format": Py("str"),
    "breakpoint": NONE,
    "dir": Sequence("list", None, Py("str")),
    "classmethod": UNKNOWN,
    "staticmethod": UNKNOWN,
}


def _is_nested(types: Value) -> bool:
    """True for a tuple of types that has a tuple among them."""
    if not isinstance(types, Sequence) or types.items is None:
        return False
    return any(isinstance(item, Sequence) and item.type == "tuple" for item in types.items)
