"""Where Dynamo compiles nothing of what stands behind a break: the function has no tensor, array or module left, and
names neither torch nor numpy (see has_tensor_in_frame in torch/_dynamo/convert_frame.py)."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from breakscope import limits
from breakscope.rulekit.walking import begin_of, end_of, kept_with_node, walk
from breakscope.static.interpreter.eager_frames import mentions_torch, shows_tensor_around
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.machine import Machine
from breakscope.static.project.generators import is_generator
from breakscope.static.project.modules import FunctionInfo

HEADERS = {ast.For: "iter", ast.If: "test"}
VALUES = (ast.Assign, ast.AnnAssign, ast.Expr)
# methods of tensors, and builtins, that give Python's own
READS = frozenset({"tolist", "item"})
NUMBERS = frozenset({"int", "float", "bool", "len", "str"})


def note_bare_ends(machine: Machine, statement: ast.stmt, before: int, frame: Frame) -> None:
    """Mark the steps that the statement took in its own expression, behind `before` others, where a break leaves
    nothing that Dynamo would compile."""
    info, steps = frame.function, frame.activation.steps
    root = _expression_of(statement)
    if root is None or info is None or is_generator(info) or mentions_torch(machine, info):
        return
    if frame.scope is not None and shows_tensor_around(machine, info, frame.scope):
        return
    if _any_shows(machine, _read_behind(statement, info), frame):
        return
    own = {id(part): part for part in walk(root)}
    for step in steps[before:]:
        node = own.get(id(step.node or step.event.node))
        if node is not None and not _leaves_tensor(machine, root, node, frame):
            step.is_last = True


def _expression_of(statement: ast.stmt) -> ast.expr | None:
    if isinstance(statement, VALUES):
        return statement.value
    name = HEADERS.get(type(statement))
    return getattr(statement, name) if name else None


@kept_with_node
def _read_behind(statement: ast.stmt, info: FunctionInfo) -> set[str]:
    """The names that the function reads behind a statement's own expression: in a loop also those in front of it."""
    body = getattr(statement, "body", None)
    end = begin_of(body[0]) if body else end_of(statement)
    targets = [*getattr(statement, "targets", ()), getattr(statement, "target", None)]
    found = {name for target in targets if target is not None for name in _names_in(target)}
    found |= {name for name, begin in _reads(info) if begin >= end}
    here = begin_of(statement), end_of(statement)
    for begin, last, again in _loops(info):
        if begin < here[0] and here[1] <= last:
            found |= again
    return found


@kept_with_node
def _reads(info: FunctionInfo) -> list[tuple[str, tuple[int, int]]]:
    """The names that a function reads, each with its place."""
    return [(part.id, begin_of(part)) for part in walk(info.node) if _is_read(part)]


@kept_with_node
def _loops(info: FunctionInfo) -> list[tuple[tuple[int, int], tuple[int, int], set[str]]]:
    """Where the loops of a function begin and end, each with what it reads again in each turn."""
    found = []
    for part in walk(info.node):
        if isinstance(part, ast.For | ast.While):
            again = part.body if isinstance(part, ast.For) else [part.test, *part.body]
            names = {name for inner in again for name in _names_in(inner)}
            found.append((begin_of(part), end_of(part), names))
    return found


def _leaves_tensor(machine: Machine, root: ast.expr, node: ast.AST, frame: Frame) -> bool:
    """True where a part of the expression may be a tensor that waits for what breaks, or is read behind it."""
    inner = root
    while inner is not node:
        parts = [part for part in ast.iter_child_nodes(inner) if hasattr(part, "lineno")]
        holder = next((part for part in parts if _holds(part, node)), None)
        if holder is None or isinstance(inner, ast.Lambda):
            return True
        for part in parts:
            if part is holder:
                continue
            if begin_of(part) > begin_of(node):
                if _any_shows(machine, _names_in(part), frame):
                    return True
            elif _may_wait_as_tensor(machine, part, frame):
                return True
        inner = holder
    return False


def _may_wait_as_tensor(machine: Machine, part: ast.AST, frame: Frame) -> bool:
    if isinstance(part, ast.Constant):
        return False
    if isinstance(part, ast.Call):
        if isinstance(part.func, ast.Attribute):
            return part.func.attr not in READS
        return getattr(part.func, "id", "") not in NUMBERS
    if not isinstance(part, ast.Name | ast.Attribute):
        return True
    with frame.silent():
        value = machine.eval(part, frame)
    return machine.behaviour(value).may_show_tensor(machine, value, limits.DEEPEST_FRAME_SEARCH)


def _any_shows(machine: Machine, names: Iterable[str], frame: Frame) -> bool:
    held = [frame.names[name] for name in names if name in frame.names]
    return any(
        machine.behaviour(value).may_show_tensor(machine, value, limits.DEEPEST_FRAME_SEARCH)
        for value in held
    )


def _names_in(node: ast.AST) -> Iterator[str]:
    return (part.id for part in walk(node) if _is_read(part))


def _is_read(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)


def _holds(outer: ast.AST, inner: ast.AST) -> bool:
    end = end_of(outer)
    return begin_of(outer) <= begin_of(inner) and end_of(inner) <= end
