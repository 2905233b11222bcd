"""Numbers that numpy makes of Python numbers in the region: Dynamo holds them as tensors.

A function of plain numbers is folded where its result is a float; one of a list or a size, and any integer, is not.
"""

from __future__ import annotations

import ast

from breakscope.events import Branch, ScalarRead
from breakscope.static.frames import Frame
from breakscope.static.joins import element_of, is_number
from breakscope.static.tensor_results import BOOL_RESULTS
from breakscope.values import Const, External, Py, Sequence, Tensor, Value

FOLDED, READ, TRUTH = Py("numpy float"), Py("numpy number"), Py("numpy bool")
NAMES = frozenset({FOLDED.type, READ.type, TRUTH.type})
INTEGERS = frozenset({"maximum", "minimum"})  # of two integers an integer
REDUCES = frozenset({"prod", "sum", "max", "min", "amax", "amin", "mean", "std", "median", "argmax", "argmin"})
ELEMENTWISE = frozenset(
    """
    ceil floor round rint sqrt cbrt exp exp2 log log2 log10 log1p power sin cos tan tanh maximum minimum square reciprocal
    """.split()
)


def is_numpy_number(value: Value) -> bool:
    return type(value) is Py and value.type in NAMES


class NumpyNumbers:
    """How such numbers come about and what reads them."""

    __slots__ = ()

    def numpy_number(self, last: str, args: list[Value]) -> Value | None:
        """The result of a numpy function of Python numbers, None where it is something else."""
        if not args:
            return None
        if last in REDUCES:
            given = args[0]
            plain = type(given) is Sequence and (given.items or given.type == "size")
            return READ if plain and len(args) == 1 and _is_plain(element_of(given)) else None
        if not all(_is_plain(value) or is_numpy_number(value) for value in args):
            return None
        if last in BOOL_RESULTS:
            return TRUTH
        if last not in ELEMENTWISE:
            return None
        return READ if READ in args or last in INTEGERS and all(map(_is_int, args)) else FOLDED

    def read_numpy_number(self, how: str, value: Value, node: ast.AST, frame: Frame) -> None:
        """Python asks for the number: `int(...)`, `.item()`, a slice's bound."""
        if value.type != FOLDED.type:
            part = node.args[0] if isinstance(node, ast.Call) and node.args else getattr(node, "func", node)
            part = part.value if isinstance(part, ast.Attribute) else part
            array = Tensor("int", 0, (), kind="numpy")
            text = self.text(part, frame.module)
            self.emit(ScalarRead, node, frame, value=array, how=how, expression=text)

    def branch_on_numpy_number(self, node: ast.expr, frame: Frame, construct: str, **facts) -> None:
        self.emit(Branch, node, frame, test=Tensor("bool", 0, (), kind="numpy"), construct=construct, **facts)

    def numpy_number_method(self, owner: Py, name: str, args: list[Value], node: ast.AST, frame: Frame) -> Value | None:
        if name in ("item", "tolist", "__int__", "__float__"):
            self.read_numpy_number("item", owner, node, frame)
            return Py("float" if owner.type == FOLDED.type else "number")
        if name == "astype" and args:
            whole = isinstance(args[0], External) and "int" in args[0].name
            return READ if whole or isinstance(args[0], Const) and "int" in str(args[0].value) else owner
        return None


def _is_plain(value: Value) -> bool:
    return is_number(value) and not value.is_scalar and getattr(value, "source", "") != "draw"


def _is_int(value: Value) -> bool:
    return value.is_shape or isinstance(value, Const) and isinstance(value.value, int) or getattr(value, "type", "") == "int"
