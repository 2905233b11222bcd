"""Python constants, and Python values of which only the type is known."""

from __future__ import annotations

import ast
import re

from breakscope.rulekit.events import Branch, Format
from breakscope.rulekit.values import (
    UNKNOWN,
    Const,
    Dict,
    External,
    ExternalInstance,
    Function,
    Method,
    Py,
    Sequence,
    Tensor,
    Union,
    Value,
    holds_tensor,
)
from breakscope.static.definitions.classes import find_member
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.library import CONTAINER_TYPES, PYTHON_TYPES
from breakscope.static.machine.machine import Machine
from breakscope.static.machine.versions import Version, attribute_of_version
from breakscope.static.variables.effects.constant_lists import LATER, made_of_text
from breakscope.static.variables.effects.emitting import emit_call, sureness
from breakscope.static.variables.effects.size_reads import emit_size_read, has_size
from breakscope.static.variables.library.folding import (
    STR,
    constant,
    fold_binary,
    fold_cast,
    fold_string_method,
)
from breakscope.static.variables.library.followed.evaluated import (
    evaluated_call,
    evaluated_method,
    is_followed,
)
from breakscope.static.variables.modules.unseen_layers import call_unseen
from breakscope.static.variables.number import NumberVariable
from breakscope.static.variables.operators.comparisons import fold_comparison
from breakscope.static.variables.tensor import tensor_attribute
from breakscope.static.variables.tensors.by_method import ARGUMENT_BY_METHOD, TENSOR_ONLY

NUMBER_TYPES = {  # what isinstance of each accepts
    "int": ("int", "bool"),
    "float": ("float",),
    "bool": ("bool",),
    "str": ("str",),
    "bytes": ("bytes",),
}
OF_NUMBER = r"%[-#0 +.\d*]*[diouxXeEfFgG]"  # a placeholder of a number
# what a text is made of whose letters Dynamo leaves for later
OF_OBJECT = Py("str", "object")
METHODS_OF_DTYPES = frozenset({"to_complex", "to_real"})
NUMBER_PROPERTIES = frozenset({"real", "imag", "numerator", "denominator"})
STRING_RESULTS = {"split": "list", "rsplit": "list", "splitlines": "list", "partition": "tuple"}
STRING_BOOLS = frozenset(
    {"startswith", "endswith", "isdigit", "isalpha", "isupper", "islower", "isidentifier"}
)


class ConstantVariable(NumberVariable):
    """A Python constant whose value is known."""

    def binary(self, machine: Machine, left, right, op, node, frame) -> Value:
        if right.is_const:
            return fold_binary(left.value, right.value, op)
        note_text_used(machine, right, node, frame)
        return super().binary(machine, left, right, op, node, frame)

    def unary(self, machine: Machine, value, op, node, frame) -> Value:
        number = value.value
        if isinstance(number, int | float):
            if op is ast.USub:
                return constant(-number)
            if op is ast.Invert and isinstance(number, int):
                return constant(~number)
        return value

    def compare(self, machine: Machine, left, right, op, node, frame) -> Value:
        if right.is_const:
            return fold_comparison(left.value, right.value, op)
        note_text_used(machine, right, node, frame)
        return super().compare(machine, left, right, op, node, frame)

    def identical(self, left, right) -> bool | None:
        if not right.is_const or not (type(left.value) is bool or type(right.value) is bool):
            return None
        return left.value is right.value

    def has_type(self, value, name) -> bool | None:
        known = value.value
        if name in PYTHON_TYPES or name in CONTAINER_TYPES:
            return type(known).__name__ in NUMBER_TYPES.get(name, (name,))
        if name in ("typing.Sequence", "typing.Iterable"):
            return isinstance(known, str | bytes)
        if name == "typing.Hashable":
            return True
        if name.startswith("numbers."):
            return isinstance(known, int | float)
        return False if known is None or name.startswith("torch.") else None

    def class_of(self, value) -> Value:
        return External(type(value.value).__name__) if value.value is not None else UNKNOWN

    def cast(self, machine: Machine, value, name, node, frame) -> Value:
        return fold_cast(value.value, name)

    def length(self, machine: Machine, value, node, frame) -> Value:
        return Const(len(value.value)) if hasattr(value.value, "__len__") else Py("int")

    def is_configuration(self, value) -> bool:
        return True

    def call_method(self, machine: Machine, owner, name, args, kwargs, node, frame) -> Value:
        if isinstance(owner.value, bytes | int):
            full = f"{type(owner.value).__name__}.{name}"
            emit_call(machine, full, owner, args, kwargs, node, frame)
        found = evaluated_method(machine, owner, name, args, kwargs, node, frame)
        if found is not None:
            return made_of_text(owner, found, frame)
        if isinstance(owner.value, str):
            result = call_string_method(machine, owner, name, args, kwargs, node, frame)
            return made_of_text(owner, result, frame)
        if isinstance(owner.value, bytes) and not kwargs and all(a.is_const for a in args):
            return fold_string_method(owner.value, name, [a.value for a in args]) or UNKNOWN
        return UNKNOWN

    def getattr(self, machine: Machine, owner, name, node, frame) -> Value:
        if isinstance(owner.value, int | float | complex) and name in NUMBER_PROPERTIES:
            known = getattr(owner.value, name, None)  # a float has no numerator
            return UNKNOWN if known is None else constant(known)
        known = isinstance(owner.value, Version) and attribute_of_version(owner.value, name)
        return known or Method(owner, name)

    def getitem(self, machine: Machine, container, index, store, node, frame) -> Value:
        known = container.value
        if not isinstance(known, str | bytes | tuple):
            return super().getitem(machine, container, index, store, node, frame)
        if isinstance(index, ExternalInstance) and all(bound.is_const for bound in index.args):
            return constant_slice(known, index)
        at = index.value if index.is_const else None
        if isinstance(at, int) and -len(known) <= at < len(known):
            return Const(known[at])
        return Py("str") if isinstance(known, str) else UNKNOWN

    def iterate(self, machine: Machine, value, node, frame) -> Value | None:
        return Py("str") if isinstance(value.value, str) else UNKNOWN

    def unpacked(self, machine: Machine, value, count, starred, node, frame) -> list[Value] | None:
        if isinstance(value.value, str | tuple) and len(value.value) == count:
            return [Const(v) for v in value.value]
        return None

    def truth(self, machine: Machine, value, construct, facts, node, frame) -> bool | None:
        return bool(value.value)

    def contains(
        self, machine: Machine, container, item, container_node, node, frame
    ) -> bool | None:
        if item.is_const and isinstance(container.value, str) and isinstance(item.value, str):
            return item.value in container.value
        return None


def constant_slice(known: str | bytes | tuple, index: ExternalInstance) -> Value:
    """`known[start:stop:step]`."""
    try:
        return Const(known[slice(*(bound.value for bound in index.args))])
    except (TypeError, ValueError):
        return UNKNOWN


class PythonVariable(NumberVariable):
    """A Python value of known type and unknown content."""

    def binary(self, machine: Machine, left, right, op, node, frame) -> Value:
        note_text_used(machine, left, node, frame)
        if op is ast.Add and is_text(left):
            return left
        return super().binary(machine, left, right, op, node, frame)

    def compare(self, machine: Machine, left, right, op, node, frame) -> Value:
        note_text_used(machine, left, node, frame)
        note_text_used(machine, right, node, frame)
        return super().compare(machine, left, right, op, node, frame)

    def contains(
        self, machine: Machine, container, item, container_node, node, frame
    ) -> bool | None:
        note_text_used(machine, container, node, frame)
        # nobody sets one for the run that a script is followed as
        is_variable = container.type == "os.environ" and item.is_const
        return False if is_variable and is_followed(machine, frame) else None

    def iterate(self, machine: Machine, value, node, frame) -> Value | None:
        note_text_used(machine, value, node, frame)
        return super().iterate(machine, value, node, frame)

    def length(self, machine: Machine, value, node, frame) -> Value:
        note_text_used(machine, value, node, frame)
        return super().length(machine, value, node, frame)

    def is_of_class(self, machine: Machine, value, wanted) -> bool | None:
        return None

    def has_type(self, value, name) -> bool | None:
        if value.type not in PYTHON_TYPES:
            return None
        if name in PYTHON_TYPES:
            return value.type in NUMBER_TYPES.get(name, (name,))
        return False if name in CONTAINER_TYPES else None

    def cast(self, machine: Machine, value, name, node, frame) -> Value:
        return Py(name, value.source)

    def is_configuration(self, value) -> bool:
        return value.source != "shape" or value.usual is None  # whether a tensor is empty

    def call(self, machine: Machine, callee, args, kwargs, node, frame) -> Value:
        is_open = callee.type in ("object", "unknown")
        return call_unseen(args, node, frame) if is_open else UNKNOWN

    def call_method(self, machine: Machine, owner, name, args, kwargs, node, frame) -> Value:
        if owner.type == "str":
            note_text_used(machine, owner, node, frame)
            result = call_string_method(machine, owner, name, args, kwargs, node, frame)
            return made_of_text(owner, result, frame)
        full = (
            f"{owner.type.partition(' ')[0]}.{name}"  # of a known member "enum Kind.MEMBER" as well
        )
        emit_call(machine, full, owner, args, kwargs, node, frame)
        if owner.type in ("int", "float", "number"):
            return Py("bool") if name == "is_integer" else owner
        found = evaluated_call(machine, full, args, kwargs, node, frame)
        return UNKNOWN if found is None else found

    def getattr(self, machine: Machine, owner, name, node, frame) -> Value:
        # no bool has them
        if name in ("any", "all") and owner.type in ("bool", "unknown"):
            return tensor_attribute(machine, Tensor(sure=False), name, node, frame)
        if owner.type in ("object", "unknown"):
            if owner.source in ("argument", "config") and name in TENSOR_ONLY:
                return tensor_attribute(machine, ARGUMENT_BY_METHOD, name, node, frame)
            return Py("unknown", owner.source) if owner.source else UNKNOWN
        if owner.type.startswith("enum ") and not frame.emits:
            method = _method_of_member(machine, owner, name)
            if method is not None:
                return method
        if owner.type.startswith("enum") and name in ("value", "name"):
            cls, _, member = owner.type.removeprefix("enum ").partition(".")
            if member and name == "name":
                return Const(member)
            known = machine.driver.members.get((cls, member)) if not frame.emits else None
            return known if isinstance(known, Const) else Py("str", owner.source)
        if owner.type == "device" and name in ("type", "index"):
            return Py("str", "environment") if name == "type" else UNKNOWN
        if owner.type == "dtype" and name not in METHODS_OF_DTYPES:
            return Py("bool" if name.startswith("is_") else "unknown", "config")
        if owner.type in ("int", "float", "number") and name in NUMBER_PROPERTIES:
            return owner
        if name in ("dtype", "is_floating_point", "itemsize"):
            return Py("bool", "config")
        return Method(owner, name)

    def getitem(self, machine: Machine, container, index, store, node, frame) -> Value:
        if container.type == "str":
            note_text_used(machine, container, node, frame)
            return Py("str", container.source)
        if container.type in ("object", "unknown"):
            super().getitem(machine, container, index, store, node, frame)
        return Py("unknown", container.source) if container.source else UNKNOWN

    def setitem(
        self, machine: Machine, container, index, value, augmented, target, node, frame
    ) -> None:
        name = f"{container.type}.__setitem__"
        emit_call(machine, name, container, (index, value), {}, target, frame)

    def truth(self, machine: Machine, value, construct, facts, node, frame) -> bool | None:
        is_drawn = machine.region.is_drawn(value)
        if is_drawn or value.source == "version":
            machine.emit(Branch, node, frame, test=value, construct=construct, **facts)
        if is_drawn and frame.emits:
            machine.region.settle()
        return None


def note_text_used(machine: Machine, value: Value, node: ast.AST, frame: Frame) -> None:
    """An operation on a text: that of a tensor or an object has no letters while Dynamo traces."""
    if type(value) is Py and value.type == "str" and value.source in LATER:
        machine.emit(Format, node, frame, value=value, construct="used")


def is_text(value: Value) -> bool:
    """True for a str."""
    if isinstance(value, Const):
        return isinstance(value.value, str)
    return isinstance(value, Py) and value.type == "str"


def format_percent(
    machine: Machine, text: Value, given: Value, op: type, node: ast.AST, frame: Frame
) -> Value | None:
    """`text % given`; None for constants, for one of several values, and for any other operator."""
    if (op is ast.Mod and holds_tensor(given)) or (op is ast.Mult and given.is_tensor):
        certainty = sureness(given) if given.is_tensor else "certain"
        machine.emit(Format, node, frame, certainty, value=given, construct="percent")
        return STR
    if op is not ast.Mod or type(given) is Union or (text.is_const and given.is_const):
        return None
    note_text_used(machine, given, node, frame)
    if machine.is_opaque(given):
        if type(given) not in (Sequence, Dict):
            note_text_used(machine, OF_OBJECT, node, frame)
        elif not _is_deferred(text, given):
            machine.emit(Format, node, frame, "likely", value=given, construct="percent")
    if op is ast.Mod and has_size(given):
        emit_size_read(
            machine, "percent", node, frame, node.right if type(node) is ast.BinOp else node
        )
    return Py("str", "shape") if given.is_shape else STR


def _is_deferred(text: Value, given: Sequence | Dict) -> bool:
    """True where Dynamo leaves a text with objects in it for later: no placeholder of it wants a number."""
    is_tuple = type(given) is Sequence and given.type == "tuple" and given.items is not None
    if not is_tuple or any(type(item) in (Sequence, Dict) for item in given.items):
        return False
    written = text.value.replace("%%", "") if text.is_const else ""
    return re.search(OF_NUMBER, written) is None


def call_string_method(
    machine: Machine, owner: Value, name: str, args, kwargs, node, frame
) -> Value:
    if name == "format":
        tensors = [v for v in (*args, *kwargs.values()) if holds_tensor(v)]
        if tensors:
            machine.emit(Format, node, frame, value=tensors[0], construct="format")
            return Py("str", "tensor")
        if any(machine.is_opaque(v) for v in (*args, *kwargs.values())):
            return OF_OBJECT
    if name == "join" and args and isinstance(args[0], Sequence):
        parts = args[0].items if args[0].items is not None else [args[0].element]
        for part in parts:
            note_text_used(machine, part, node, frame)
        texts = [part.value if isinstance(part, Const) else None for part in args[0].items or [STR]]
        if isinstance(owner, Const) and all(type(text) is str for text in texts):
            args = [Const(texts)]
    is_constant = (
        isinstance(owner, Const) and not kwargs and all(isinstance(a, Const) for a in args)
    )
    if is_constant:
        folded = fold_string_method(owner.value, name, [a.value for a in args])
        if folded is not None:
            return folded
    owner_source = getattr(owner, "source", "")
    if name in STRING_RESULTS:
        return Sequence(STRING_RESULTS[name], None, Py("str"))
    if name in STRING_BOOLS:
        return Py("bool", owner_source)
    if name == "encode":
        return Py("bytes")
    return (
        Py("int")
        if name in ("find", "index", "count", "rfind")
        else Py("str", "" if owner_source in LATER else owner_source)
    )


def _method_of_member(machine: Machine, owner: Py, name: str) -> Function | None:
    """What the class of an enum defines for its members, in the code around regions."""
    cls = machine.driver.enums.get(owner.type.removeprefix("enum ").partition(".")[0])
    member = find_member(machine, cls.info, name) if cls is not None else None
    is_method = type(member) is Function and member.bound is None and not member.info.marks
    return Function(member.info, owner, member.scope) if is_method else None
