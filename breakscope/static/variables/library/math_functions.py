"""Functions of Python's `math`, of numbers, sizes, tensors and numbers of NumPy's."""

from __future__ import annotations

import ast
import math

from msgspec.structs import replace

from breakscope import limits
from breakscope.rulekit.values import Const, Py, Scalar, Sequence, ShapeInt, Tensor, Value, options
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.machine import Machine
from breakscope.static.variables.effects.emitting import (
    emit_argument_read,
    emit_call,
    is_some_tensor,
)
from breakscope.static.variables.effects.size_reads import OF_MATH, emit_numbers_read
from breakscope.static.variables.library.builtin_iteration import is_lazy
from breakscope.static.variables.numpy import READ, is_numpy_number, traced_array

FOLDED = frozenset(
    "ceil floor trunc sqrt exp log log2 log10 log1p expm1 cos sin tan tanh pow radians degrees hypot "
    "fabs atan atan2 gcd".split()
)
# what gives whole numbers or truths
WHOLE = frozenset(
    "ceil floor trunc isnan isinf isfinite isclose factorial gcd lcm comb perm isqrt".split()
)


def math_function(
    machine: Machine, last: str, args: list[Value], node: ast.AST, frame: Frame
) -> Value:
    if last in ("prod", "fsum") and args and is_lazy(args[0], node):
        emit_call(machine, f"iterator.{last}", None, args, {}, node, frame)
    if (
        last in ("prod", "radians")
        and args
        and (multiplied := _multiplied_tensor(machine, last, args[0], node, frame)) is not None
    ):
        return multiplied
    for i, value in enumerate(args):
        if is_some_tensor(value):
            emit_argument_read(machine, value, "math", node, frame, i)
            return Scalar("float")
    _note_number_of_numpy(machine, last, args, node, frame)
    if any(a.is_scalar for a in args):
        return Scalar("float")
    if not frame.emits and (known := _folded(last, args)) is not None:
        return known
    integer = last in ("ceil", "floor", "prod", "gcd", "lcm", "trunc", "factorial", "comb")
    if last in OF_MATH:
        emit_numbers_read(machine, "math", args, node, frame)
    if any(a.is_shape or (isinstance(a, Sequence) and a.type == "size") for a in args):
        return ShapeInt() if integer else Py("float", "shape")
    return Py(
        "int" if integer else "float",
        next((a.source for a in args if isinstance(a, Py) and a.source), ""),
    )


def _folded(name: str, args: list[Value]) -> Value | None:
    """What a function of math gives for constants, None where that is not known, or large."""
    numbers = [v.value if isinstance(v, Const) else None for v in args]
    small = all(type(n) in (int, float) and abs(n) <= limits.LARGEST_FOLDED_BASE for n in numbers)
    if not numbers or not small or name not in FOLDED:
        return None
    try:
        return Const(getattr(math, name)(*numbers))
    except (ArithmeticError, TypeError, ValueError):
        return None


def _multiplied_tensor(
    machine: Machine, last: str, value: Value, node: ast.AST, frame: Frame
) -> Tensor | None:
    """What these two give for tensors: they only multiply, which Dynamo does in the graph."""
    if last == "radians":
        return replace(value, dtype="float") if type(value) is Tensor else None
    factor = machine.iterate(value, node, frame)
    return (
        next((o for o in options(factor) if type(o) is Tensor), None)
        if factor is not None
        else None
    )


def _note_number_of_numpy(
    machine: Machine, last: str, args: list[Value], node: ast.AST, frame: Frame
) -> None:
    """Emit that a function of `math` reads a number that numpy computes: each of what torch has read as an array, and
    those that give whole numbers or truths of any."""
    for place, value in enumerate(args):
        reads_all = is_numpy_number(value) and value.type == READ and last != "radians"
        if reads_all or (is_numpy_number(value) and last in WHOLE):
            emit_argument_read(machine, traced_array(value), "math", node, frame, place)
            return
