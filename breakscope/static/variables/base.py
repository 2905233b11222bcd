"""The behaviour that every kind of abstract value has: what operations on it mean when nothing
more is known."""

from __future__ import annotations

import ast
from typing import Any

from breakscope.rulekit.values import COMPARED, UNKNOWN, Class, Py, Tensor, Value
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.library import TENSOR_TYPES
from breakscope.static.machine.machine import Machine
from breakscope.static.variables.operators.comparisons import open_comparison
from breakscope.static.variables.tensors.indexing import index_parts, is_computed_number

BITWISE = (ast.BitAnd, ast.BitOr, ast.BitXor)  # operators that combine masks


class Variable:
    """How values of one kind behave. What stands here holds of a value that does not have the
    operation, or of which nothing is known.

    A behaviour has no state: it is handed the machine, the value, and the place in the source.
    """

    # Of two operands, the one of the higher precedence decides what an operator gives, the left
    # one of equals; the same for `==`, `<` and the like.
    binary_precedence = 0
    compare_precedence = 0

    def call(
        self,
        machine: Machine,
        callee: Value,
        args: list[Value],
        kwargs: dict[str, Value],
        node: ast.AST,
        frame: Frame,
    ) -> Value:
        """`callee(*args, **kwargs)`."""
        return UNKNOWN

    def call_method(
        self,
        machine: Machine,
        owner: Value,
        name: str,
        args: list[Value],
        kwargs: dict[str, Value],
        node: ast.AST,
        frame: Frame,
    ) -> Value:
        """`owner.name(*args, **kwargs)`."""
        return UNKNOWN

    def getattr(
        self, machine: Machine, owner: Value, name: str, node: ast.AST, frame: Frame
    ) -> Value:
        """`owner.name`."""
        return UNKNOWN

    def setattr(
        self,
        machine: Machine,
        owner: Value,
        name: str,
        value: Value,
        old: Value | None,
        target: ast.Attribute,
        node: ast.AST,
        frame: Frame,
    ) -> None:
        """`owner.name = value`, in the statement `node`; `old` is what an augmented assignment
        replaces."""

    def call_hasattr(
        self, machine: Machine, owner: Value, name: str, node: ast.AST, frame: Frame
    ) -> bool:
        """`hasattr(owner, name)`, or `getattr` with a default: emits what that does beside reading; True
        where the attribute is certainly there."""
        return False

    def getitem(
        self,
        machine: Machine,
        container: Value,
        index: Value,
        store: str,
        node: ast.AST,
        frame: Frame,
    ) -> Value:
        """`container[index]`; `store` is the operator of an augmented assignment to it. Only a
        tensor takes a mask, and whatever takes a tensor of one number reads it, as a tensor does."""
        parts = [part for part in index_parts(index) if isinstance(part, Tensor)]
        is_mask = any(part.dtype == "bool" for part in parts)
        if is_mask or any(is_computed_number(part) for part in parts):
            guessed = Tensor(sure=False, origin="op" if is_mask else "guess")
            item = machine.getitem(guessed, index, node, frame, store)
            return item if is_mask else UNKNOWN
        return UNKNOWN

    def setitem(
        self,
        machine: Machine,
        container: Value,
        index: Value,
        value: Value,
        augmented: bool,
        target: ast.Subscript,
        node: ast.AST,
        frame: Frame,
    ) -> None:
        """`container[index] = value`, in the statement `node`."""

    def iterate(self, machine: Machine, value: Value, node: ast.AST, frame: Frame) -> Value | None:
        """What iterating yields each time; None when there is certainly nothing."""
        return UNKNOWN

    def unpacked(
        self,
        machine: Machine,
        value: Value,
        count: int,
        starred: bool,
        node: ast.AST,
        frame: Frame,
    ) -> list[Value] | None:
        """The known parts of a value that is unpacked into `count` targets."""
        return None

    def truth(
        self,
        machine: Machine,
        value: Value,
        construct: str,
        facts: dict[str, Any],
        node: ast.expr,
        frame: Frame,
    ) -> bool | None:
        """The truth of the value, None when not known; `construct` and `facts` are those of the
        Branch that a tensor emits."""
        return None

    def contains(
        self,
        machine: Machine,
        container: Value,
        item: Value,
        container_node: ast.expr,
        node: ast.Compare,
        frame: Frame,
    ) -> bool | None:
        """`item in container`, None when not known."""
        return None

    def binary(
        self,
        machine: Machine,
        left: Value,
        right: Value,
        op: type,
        node: ast.AST,
        frame: Frame,
    ) -> Value:
        """`left op right`, of which this kind decides."""
        return COMPARED if op in BITWISE and (left is COMPARED or right is COMPARED) else UNKNOWN

    def unary(self, machine: Machine, value: Value, op: type, node: ast.AST, frame: Frame) -> Value:
        """`-value`, `+value` or `~value`."""
        return value

    def compare(
        self,
        machine: Machine,
        left: Value,
        right: Value,
        op: type,
        node: ast.AST,
        frame: Frame,
    ) -> Value:
        """`left op right` for `==`, `<` and the like, of which this kind decides."""
        return open_comparison(left, right, op)

    def identical(self, left: Value, right: Value) -> bool | None:
        """`left is right`, None when not known; neither is None."""
        return None

    def is_of_class(self, machine: Machine, value: Value, wanted: Class) -> bool | None:
        """isinstance of a class of the checked source, None when not known."""
        return False

    def is_of_type(self, machine: Machine, value: Value, name: str) -> bool | None:
        """isinstance of a type outside the checked source, None when not known."""
        if name == "object":
            return True
        return False if name in TENSOR_TYPES else self.has_type(value, name)

    def has_type(self, value: Value, name: str) -> bool | None:
        """The same of a type that is neither `object` nor one of tensors."""
        return None

    def class_of(self, value: Value) -> Value:
        """`type(value)`."""
        return UNKNOWN

    def cast(self, machine: Machine, value: Value, name: str, node: ast.AST, frame: Frame) -> Value:
        """`int(value)`, `float(value)`, `bool(value)` or `complex(value)`."""
        return Py(name)

    def length(self, machine: Machine, value: Value, node: ast.AST, frame: Frame) -> Value:
        """`len(value)`."""
        return Py("int")

    def is_configuration(self, value: Value) -> bool:
        """True when who wrote or configured the model decides the value, not the data."""
        return False

    def may_show_tensor(self, machine: Machine, value: Value, depth: int) -> bool:
        """False where Dynamo's search of a frame's variables certainly finds no tensor, array or
        module; it looks into containers in each other to this depth."""
        return True

    def is_opaque(self, machine: Machine, value: Value, within: tuple[Value, ...]) -> bool:
        """True for what is no constant while Dynamo traces; `within` are it and the containers around it."""
        return False

    def enter(self, machine: Machine, manager: Value, node: ast.expr, frame: Frame) -> Value:
        """What `with manager as ...` binds."""
        return UNKNOWN

    def leave(self, machine: Machine, manager: Value, node: ast.With, frame: Frame) -> None:
        """The end of a `with`."""

    def skips_frame(self, machine: Machine, manager: Value) -> bool:
        """True when a break inside a `with` on this cannot be resumed."""
        return False
