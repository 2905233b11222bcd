"""Sizes that Dynamo has, or may have, a symbol for: what marks them so, and what needs their number."""

from __future__ import annotations

import ast

from breakscope.rulekit.events import CHOSEN
from breakscope.rulekit.size_reads import SizeRead
from breakscope.rulekit.values import UNKNOWN, Dict, Py, Sequence, Tensor, Value, int_of
from breakscope.rulekit.walking import walk
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.machine import Machine

# keywords of torch's functions for what becomes part of a tensor
FOR_NUMBERS = frozenset({"value", "fill_value", "other", "min", "max", "alpha", "input", "tensor"})
RANKS = frozenset({"dim", "ndim", "ndimension"})
MARKS_DYNAMIC = frozenset(
    f"torch._dynamo.{name}" for name in ("mark_dynamic", "maybe_mark_dynamic", "mark_unbacked")
)
TESTS = (ast.Compare, ast.BoolOp, ast.Name, ast.Attribute)
OF_MATH = frozenset({"isqrt", "gcd", "lcm", "comb", "perm", "factorial"}) | frozenset(
    {"isclose", "isfinite", "isinf", "isnan"}
)


def emit_size_read(
    machine: Machine, how: str, node: ast.AST, frame: Frame, part: ast.AST, taker: str = ""
) -> None:
    """Emit that `node` needs the number of the size `part`. Whether it is one is not decided: nothing is said of what
    follows it."""
    if not frame.emits:
        return
    before, frame.undecided = frame.undecided, CHOSEN
    text = machine.text(part, frame.module)
    machine.emit(SizeRead, node, frame, "likely", how=how, expression=text, taker=taker)
    frame.undecided = before


def emit_numbers_read(
    machine: Machine, how: str, args: list[Value], node: ast.AST, frame: Frame
) -> None:
    """Emit that a function needs the number of the first of its arguments that is a size, or has one."""
    at = next((at for at, value in enumerate(args) if has_size(value)), None)
    if at is not None:
        is_written = type(node) is ast.Call and at < len(node.args)
        emit_size_read(machine, how, node, frame, node.args[at] if is_written else node)


def emit_flags(
    machine: Machine, name: str, kwargs: dict[str, Value], node: ast.AST, frame: Frame
) -> None:
    """Emit that a function of torch, or a method of a tensor, is given what a size decides as a flag."""
    if not frame.emits or not name.startswith(("torch.", "Tensor.")) or type(node) is not ast.Call:
        return
    for word in node.keywords:
        value = kwargs.get(word.arg or "")
        is_flag = type(value) is Py and (value.type, value.source) == ("bool", "shape")
        is_open = is_flag and isinstance(word.value, TESTS) and not _asks_rank(word.value)
        if is_open and word.arg not in FOR_NUMBERS:
            emit_size_read(machine, "flag", node, frame, word.value, name.rpartition(".")[2])


def _asks_rank(test: ast.expr) -> bool:
    """True for a test of how many dimensions a tensor has: they are a constant in each graph."""
    return any(
        getattr(part, "attr", "") in RANKS or getattr(part, "id", "") == "len"
        for part in walk(test)
    )


def has_size(value: Value) -> bool:
    """True for a number that is a size of a tensor or was computed from one, and for a list, tuple or dict of these."""
    if type(value) is Sequence:
        return any(map(has_size, value.items or [value.element]))
    if type(value) is Dict:
        return any(map(has_size, value.items.values()))
    return value.is_shape and value.is_number


def mark_dynamic(machine: Machine, args: list[Value], kwargs: dict[str, Value]) -> None:
    """`mark_dynamic(x, 0)` of the code around regions: whatever the size is, it is a symbol."""
    if args and type(args[0]) is Tensor:
        given = args[1] if len(args) > 1 else kwargs.get("index", UNKNOWN)
        items = given.items or [UNKNOWN] if type(given) is Sequence else [given]
        known = frozenset(map(int_of, items))
        dimensions = None if None in known else known
        machine.driver.marked[id(args[0])] = args[0], dimensions
