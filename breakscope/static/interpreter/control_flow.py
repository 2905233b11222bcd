"""Runs `if` and `try`: one path where the test is decided, else both, joined behind them."""

from __future__ import annotations

import ast

from breakscope.rulekit.events import CHOSEN, LEFT, Statement
from breakscope.rulekit.values import (
    UNKNOWN,
    Class,
    Dict,
    External,
    ExternalInstance,
    Instance,
    Py,
    Scalar,
    Sequence,
    Tensor,
    Value,
)
from breakscope.rulekit.walking import last_name, uses_of, walk
from breakscope.static.interpreter.blocks import exec_block, exec_path
from breakscope.static.interpreter.conditions import is_of_data, open_part, test_condition
from breakscope.static.interpreter.imports import bind_imports, note_needed
from breakscope.static.interpreter.narrowing import narrow_by
from breakscope.static.interpreter.rarely import (
    is_deprecated,
    is_rare_here,
    replaces_module,
    runs_once,
    switches_what_it_tests,
)
from breakscope.static.machine.frames import GO_ON, LEAVE_LOOP, RAISE, RETURN, Frame, Raised
from breakscope.static.machine.given import both, opposite, taken
from breakscope.static.machine.lattice import ALWAYS, join_names
from breakscope.static.machine.machine import Machine

LOGS_ERRORS = frozenset({"error", "critical", "exception", "fatal"})
WARNS = frozenset({"warning", "warn", "warning_once"})
LOGGERS = ("log", "_log")


def exec_if(machine: Machine, node: ast.If, frame: Frame) -> int:
    raises = frame.emits and not node.orelse and all([isinstance(s, ast.Raise) for s in node.body])
    truth = test_condition(machine, node.test, frame, "if", raises=raises)
    if truth is True:
        narrow_by(machine, node.test, True, frame)
        rare = frame.rare
        frame.rare = rare or (frame.emits and runs_once(machine, node, frame))
        end = exec_block(machine, node.body, frame)
        frame.rare = rare
        return end
    if truth is False:
        if frame.function is None and _is_type_checking(node.test):
            bind_imports(machine, node.body, frame)
        narrow_by(machine, node.test, False, frame)
        return exec_block(machine, node.orelse, frame)
    return both_paths(machine, node, frame)


def both_paths(machine: Machine, node: ast.If, frame: Frame) -> int:
    before, condition, undecided, rare = (
        frame.names,
        frame.condition,
        frame.undecided,
        frame.rare,
    )
    frame.names, decided_by = dict(before), ""
    counts = counted(before)
    # configuration is shown as the condition; no other default is
    usual = None if machine.region.last_test_is_configuration else machine.region.last_test_usually
    open_test = open_part(machine, node.test)
    # who hands an empty tensor to a library?
    frame.undecided = undecided if usual is True and frame.module.library else CHOSEN
    if frame.emits and machine.region.last_test_usually and switches_what_it_tests(node):
        frame.undecided = undecided or LEFT  # the first call does come here
    elif frame.emits:
        frame.rare = (
            rare
            or usual is False
            or is_rare_here(machine, open_test, True, frame)
            or is_deprecated(node)
        )
        frame.rare = frame.rare or _fails(node.body, frame) or runs_once(machine, node, frame)
        frame.rare = frame.rare or (_only_warns(node.body) and _reads_values(node.test, frame))
        frame.rare = frame.rare or replaces_module(machine, node, frame)
    branch, by_data = frame.branch, frame.by_data
    if machine.driver.calls is not None and not frame.emits:
        frame.by_data = (by_data or not undecided) and is_of_data(machine, node.test, frame)
    if machine.region.last_test_is_configuration:
        decided_by = machine.text(open_test, frame.module)
        if frame.emits:
            frame.condition = both(condition, decided_by)
        else:
            around = taken(machine, branch, frame.module) if branch is not None else ""
            frame.branch = node.test, True, around
    narrow_by(machine, node.test, True, frame)
    first = exec_path(machine, node.body, frame)
    frame.condition = condition
    if frame.branch is not branch:
        frame.branch = node.test, False, frame.branch[2]
    names, frame.names = frame.names, dict(before)
    narrow_by(machine, node.test, False, frame)
    second = GO_ON
    if frame.emits:
        frame.rare = rare or usual is True or is_rare_here(machine, open_test, False, frame)
        frame.rare = frame.rare or _fails(node.orelse, frame)
    frame.undecided = undecided if usual is False and frame.module.library else CHOSEN
    if node.orelse:
        if decided_by and frame.emits:
            frame.condition = both(condition, opposite(decided_by))
        second = exec_path(machine, node.orelse, frame)
        frame.condition = condition
    otherwise, frame.rare, frame.undecided = frame.rare, rare, undecided
    frame.branch, frame.by_data = branch, by_data
    note_uncounted(counts)
    if first == second == RAISE:
        raise Raised(UNKNOWN)
    if first and second:
        return LEAVE_LOOP if LEAVE_LOOP in (first, second) else RETURN
    if first:
        if first == RETURN and decided_by and frame.emits and not converts_nothing(node, frame):
            frame.condition = both(condition, opposite(decided_by))  # of all that follows
            frame.undecided = undecided or LEFT
        if first == RETURN:
            frame.rare = otherwise
        return GO_ON
    given = (decided_by, opposite(decided_by)) if decided_by else ALWAYS
    if not node.orelse:
        of_the_kind_made(node.test, names, frame.names)
    frame.names = names if second else join_names(names, frame.names, given, before)
    return GO_ON


def counted(names: dict[str, Value]) -> list[tuple[Sequence | Dict, int]]:
    """The lists and dicts that names hold, each with the number of its items."""
    held = [v for v in names.values() if type(v) is Sequence or type(v) is Dict]
    return [(value, len(value.items)) for value in held if value.items is not None]


def note_uncounted(counts: list[tuple[Sequence | Dict, int]]) -> None:
    """Of lists and dicts that one side of a test made longer or shorter nobody knows how long they are."""
    for value, count in counts:
        if value.items is not None and len(value.items) != count:
            value.is_uncounted = True


def converts_nothing(node: ast.If, frame: Frame) -> bool:
    """True for `if rate == wanted: return wave` of a library, which hands its argument back: who calls it
    has something to convert."""
    if not frame.module.library or frame.function is None:
        return False
    match node:
        case ast.If(ast.Compare(left, [ast.Eq()], [right]), [ast.Return(ast.Name(name))], []):
            is_open = not isinstance(left, ast.Constant) and not isinstance(right, ast.Constant)
            return is_open and name in [p.arg for p in frame.function.node.args.args]
    return False


def of_the_kind_made(test: ast.expr, made: dict[str, Value], given: dict[str, Value]) -> None:
    """After `if t is None: t = torch.linspace(...)`: where a tensor is made for what is missing, what
    is given in its place is a tensor too, when nothing else is known of it."""
    match test:
        case ast.Compare(ast.Name(name), [ast.Is()], [ast.Constant(None)]):
            value, tensor = given.get(name), made.get(name)
            is_open = value is UNKNOWN or value == Py("unknown", "argument")
            if is_open and type(tensor) is Tensor:
                given[name] = Tensor(tensor.dtype, tensor.ndim, sure=False, origin="guess")


def exec_try(machine: Machine, node: ast.Try, frame: Frame) -> int:
    before = dict(frame.names)
    skips, frame.skips = frame.skips, frame.skips or "try"
    if frame.emits and not frame.caught:
        note_needed(node)
    caught, frame.caught = frame.caught, frame.caught or bool(node.handlers)
    raised, ends_before = None, (len(frame.returns), len(frame.exits), len(frame.breaks))
    calls = len(machine.driver.calls or ())
    try:
        status = exec_block(machine, node.body, frame)
    except Raised as problem:
        raised, status = problem, RAISE
    frame.skips, frame.caught = skips, caught
    after_body = frame.names
    ends_loop = status in (RETURN, LEAVE_LOOP) and _tries_with_another(node)
    if ends_loop and machine.driver.tries_again(node, frame, calls):
        del frame.returns[ends_before[0] :], frame.exits[ends_before[1] :]
        del frame.breaks[ends_before[2] :]
        frame.names = join_names(before, after_body)
        end = exec_path(machine, node.handlers[0].body, frame)
        return end if end != RAISE else status
    if status == GO_ON and node.orelse:
        status = exec_path(machine, node.orelse, frame)
        after_body = frame.names
    ends = [(status, after_body)] if status != RAISE else []
    if raised is not None and node.handlers:
        machine.emit(
            Statement,
            raising_node(node),
            frame,
            construct="raise",
            name=exception_name(raised.value),
            value=raised.value,
        )
    certainty, returns = frame.certainty, len(frame.returns)
    handlers = [] if raised is None and _imports_answer(machine, node.body) else node.handlers
    for handler in handlers:
        if raised is None and not _fills_up(node.body, handler):
            frame.certainty = "possible"
        frame.names = join_names(before, after_body)
        frame.handled = raised.value if raised else UNKNOWN
        if handler.name:
            frame.names[handler.name] = frame.handled
        frame.skips = skips or "try"
        end = exec_path(machine, handler.body, frame)
        frame.skips, frame.certainty = skips, certainty
        if raised is None and status == RETURN:
            del frame.returns[returns:]  # the body returns unless something goes wrong
        elif end != RAISE:
            ends.append((end, frame.names))
    if not ends:
        frame.names = after_body
        if node.finalbody:
            exec_block(machine, node.finalbody, frame)
        raise raised or Raised(UNKNOWN)
    going_on = [names for end, names in ends if end == GO_ON]
    frame.names = going_on[0] if going_on else ends[0][1]
    for names in going_on[1:]:
        frame.names = join_names(frame.names, names)
    if node.finalbody:
        final = exec_block(machine, node.finalbody, frame)
        if final:
            return final
    return GO_ON if going_on else ends[0][0]


def _fails(body: list[ast.stmt], frame: Frame) -> bool:
    """True for a block that ends in an error which ends the program, or only logs one: no call that goes well runs it."""
    if not body:
        return False
    raises = not frame.caught and ast.Raise in map(type, body)
    return raises or all(map(_logs_error, body))


def _reads_values(test: ast.expr, frame: Frame) -> bool:
    """True for a test of the values of tensors: `offset > 50`, `(lengths < 1).any()`."""
    parts = list(walk(test))
    return not any(type(p) is ast.Attribute and p.attr in ("shape", "ndim") for p in parts) and any(
        type(p) is ast.Name and type(frame.names.get(p.id)) in (Tensor, Scalar) for p in parts
    )


def _only_warns(body: list[ast.stmt]) -> bool:
    """True for a block that warns, and does nothing else."""
    makes_logger = [
        isinstance(s, ast.Assign) and last_name(s.targets[0]).lower().startswith(LOGGERS)
        for s in body
    ]
    return all(made or _logs(s, WARNS) for made, s in zip(makes_logger, body)) and not all(
        makes_logger
    )


def _logs_error(statement: ast.stmt) -> bool:
    """True for `logger.error(...)`."""
    return _logs(statement, LOGS_ERRORS)


def _logs(statement: ast.stmt, methods: frozenset[str]) -> bool:
    called = getattr(getattr(statement, "value", None), "func", None)
    name = last_name(getattr(called, "value", None))
    return getattr(called, "attr", "") in methods and name.lower().startswith(LOGGERS)


def _fills_up(body: list[ast.stmt], handler: ast.ExceptHandler) -> bool:
    """True for `try: return cache[key]` whose handler puts what is missing there: the first call comes to it."""
    if getattr(handler.type, "id", "") not in ("KeyError", "IndexError", "LookupError"):
        return False
    looked_up = {ast.unparse(part) for part in _subscripts(body, ast.Load)}
    return not looked_up.isdisjoint(ast.unparse(p) for p in _subscripts(handler.body, ast.Store))


def _subscripts(body: list[ast.stmt], context: type) -> list[ast.Subscript]:
    parts = (part for statement in body for part in walk(statement))
    return [p for p in parts if isinstance(p, ast.Subscript) and type(p.ctx) is context]


def _tries_with_another(node: ast.Try) -> bool:
    """True where the handler sets a name that the block reads, and goes on."""
    body = node.handlers[0].body if node.handlers else []
    if not body or isinstance(body[-1], ast.Return | ast.Raise | ast.Break):
        return False
    names = [part for statement in body for part in walk(statement) if isinstance(part, ast.Name)]
    stored = {part.id for part in names if isinstance(part.ctx, ast.Store)}
    return any(uses_of(statement, name) for statement in node.body for name in stored)


def _imports_answer(machine: Machine, body: list[ast.stmt]) -> bool:
    """True for `from torch.compiler import is_compiling`: what handles that it is missing is for
    another torch."""
    answer, canonical = machine.library.answer, machine.library.canonical
    imports = [statement for statement in body if isinstance(statement, ast.ImportFrom)]
    return any(
        all(answer(canonical(f"{i.module}.{alias.name}")) is not None for alias in i.names)
        for i in imports
    )


def raising_node(node: ast.Try) -> ast.AST:
    return node.body[0] if len(node.body) == 1 else node


def exception_name(value: Value) -> str:
    if isinstance(value, Instance):
        return value.cls.info.name
    if isinstance(value, Class):
        return value.info.name
    return value.name if isinstance(value, External | ExternalInstance) else ""


def _is_type_checking(test: ast.expr) -> bool:
    if isinstance(test, ast.BoolOp):
        return any(map(_is_type_checking, test.values))
    return getattr(test, "id", getattr(test, "attr", "")) == "TYPE_CHECKING"
