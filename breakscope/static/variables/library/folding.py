"""Constant folding: computes what follows from constants where the result is known to be small before
it is computed. Of a large one only its type is known.
"""

from __future__ import annotations

import ast
import re

from breakscope import limits
from breakscope.rulekit.values import UNKNOWN, Const, Py, Sequence, Value

STR, INT, BYTES = Py("str"), Py("int"), "bytes"
CASTS = {"int": int, "float": float, "bool": bool, "complex": complex}
# what Python raises where an operation does not fit its operands
MISFITS = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
FOLDED_STRING_METHODS = frozenset(
    """
    startswith endswith lower upper strip replace split join format isdigit removeprefix removesuffix capitalize
    title lstrip rstrip partition ljust rjust encode decode
    """.split()
)
# a width or precision of many digits, or one that an argument gives
WIDE_FORMAT = r"\d{4}|\{[^{}]*\{|%[-#0 +.\d]*\*"

_FOLDS = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.FloorDiv: lambda a, b: a // b,
    ast.Mod: lambda a, b: a % b,
    ast.BitAnd: lambda a, b: a & b,
    ast.BitOr: lambda a, b: a | b,
    ast.BitXor: lambda a, b: a ^ b,
    ast.LShift: lambda a, b: a << b,
    ast.RShift: lambda a, b: a >> b,
}


def constant(value: object) -> Value:
    """A constant; a Python value of its type when it is larger than what is folded."""
    kind = type(value)
    if kind is int and value.bit_length() > limits.MOST_FOLDED_BITS:
        return INT
    if kind is bytes and len(value) > limits.LONGEST_FOLDED_TEXT:
        return Py("bytes")
    if kind is str and len(value) > limits.LONGEST_FOLDED_TEXT:
        return STR
    return Const(value)


def fold_binary(left: object, right: object, op: type) -> Value:
    """`left op right` of plain numbers and short texts."""
    if op is ast.Pow:
        return _power(left, right)
    if (
        op not in _FOLDS
        or not isinstance(left, int | float | complex | str)
        or not isinstance(right, int | float | complex | str)
    ):
        return STR if isinstance(left, str) and op is ast.Mod else UNKNOWN
    if isinstance(left, str) or isinstance(right, str):
        if op is ast.Mult or not (_is_short(left) and _is_short(right)):
            return STR
        if op is ast.Mod and isinstance(left, str) and re.search(WIDE_FORMAT, left):
            return STR
    if op is ast.LShift and isinstance(right, int) and right > limits.MOST_FOLDED_BITS:
        return INT
    try:
        return constant(_FOLDS[op](left, right))
    except MISFITS:
        return UNKNOWN


def _power(left: object, right: object) -> Value:
    if not (
        isinstance(left, int | float)
        and isinstance(right, int | float)
        and abs(right) <= limits.LARGEST_FOLDED_EXPONENT
        and abs(left) < limits.LARGEST_FOLDED_BASE
    ):
        return UNKNOWN
    try:
        result = left**right
    except MISFITS:
        return UNKNOWN
    return constant(result) if isinstance(result, int | float) else UNKNOWN


def fold_cast(value: object, name: str) -> Value:
    """`int(value)`, `float(value)`, `bool(value)` or `complex(value)`."""
    try:
        return constant(CASTS[name](value))
    except MISFITS:
        return Py(name)


def fold_string_method(text: str | bytes, name: str, args: list) -> Value | None:
    """A method of a constant text with constants for arguments; None for a method, or a size, that
    is not folded."""
    if name not in FOLDED_STRING_METHODS or not all(map(_is_short, (text, *args))):
        return None
    try:
        if _size_of_result(text, name, args) > limits.LONGEST_FOLDED_TEXT:
            return Py(BYTES if name == "encode" else type(text).__name__)
        result = getattr(text, name)(*args)
    except MISFITS:
        return Py(BYTES if name == "encode" else type(text).__name__)
    if not isinstance(result, list | tuple):
        return constant(result)
    kind = type(result).__name__
    if len(result) > limits.MOST_FOLDED_ITEMS:
        return Sequence(kind, None, STR)
    return Sequence(kind, [Const(part) for part in result])


def _size_of_result(text: str, name: str, args: list) -> int:
    """At least as many characters as the method's result has."""
    if name == "replace" and len(args) > 1:
        return len(text) + text.count(args[0]) * len(args[1])
    if name == "join" and args:
        return len(args[0]) * (len(text) + 1)
    if name in ("ljust", "rjust") and args and isinstance(args[0], int):
        return max(args[0], len(text))
    if name == "encode":
        return 4 * len(text)
    if name == "format":
        if re.search(WIDE_FORMAT, text):
            return limits.LONGEST_FOLDED_TEXT + 1
        return len(text) + text.count("{") * max([len(str(a)) for a in args], default=0)
    return len(text)


def _is_short(value: object) -> bool:
    return not isinstance(value, str | bytes) or len(value) <= limits.LONGEST_FOLDED_TEXT


def counted(owner: Sequence, name: str, args: list[Value]) -> Value:
    """`items.index(value)` and `items.count(value)` of known items."""
    known = (
        owner.items is not None
        and not owner.home
        and all(value.is_const for value in (*owner.items, *args))
    )
    items = [item.value for item in owner.items] if known else []
    if len(args) != 1 or not known or (name == "index" and args[0].value not in items):
        return Py("int")
    return Const(getattr(items, name)(args[0].value))
