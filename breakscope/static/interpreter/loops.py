"""Runs `for` and `while`: a body until its names no longer change, or once for each known name."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from breakscope import limits
from breakscope.rulekit.values import Sequence, Value
from breakscope.rulekit.walking import children, kept_with_node
from breakscope.static.interpreter.assignment import assign_target
from breakscope.static.interpreter.blocks import exec_block, exec_path
from breakscope.static.interpreter.conditions import test_condition
from breakscope.static.interpreter.narrowing import narrow_by
from breakscope.static.machine.frames import GO_ON, LEAVE_LOOP, RETURN, Frame
from breakscope.static.machine.given import both
from breakscope.static.machine.lattice import join_names
from breakscope.static.machine.machine import Machine
from breakscope.static.project.generators import is_generator
from breakscope.static.variables.effects.kept_iterators import note_kept
from breakscope.static.variables.effects.unmade_iterators import is_unmade
from breakscope.static.variables.library.followed.draws import open_turns
from breakscope.static.variables.library.followed.driven_items import (
    all_items,
    drawn_items,
    driven_items,
    guessed_items,
)
from breakscope.static.variables.modules.containers import contents_of


def exec_while(machine: Machine, node: ast.While, frame: Frame) -> int:
    if machine.driver.calls is not None and machine.driver.follows_turns(frame):
        return drive_turns(machine, node, frame, turns_of_while(machine, node, frame))
    if machine.driver.follows_known_turns(frame) and _ends_by_itself(machine, node, frame):
        return drive_known(machine, node, frame, turns_of_known(machine, node, frame), 8)
    skips, frame.skips = frame.skips, frame.skips or "loop"
    jumps, frame.jumps = frame.jumps, (_last_operand(node.test), skips)
    truth = test_condition(machine, node.test, frame, "while")
    frame.jumps = jumps
    if truth is not False:
        condition = frame.condition
        if truth is None and frame.emits and machine.region.last_test_is_configuration:
            frame.condition = both(condition, machine.text(node.test, frame.module))
        narrow_by(machine, node.test, True, frame)
        with machine.driver.one_for_many():
            run_loop_body(machine, node, frame, None, partial(test_again, machine, node, condition))
        frame.condition = condition
    frame.skips = skips
    return exec_path_of_else(machine, node, frame)


def test_again(machine: Machine, node: ast.While, outer: str, frame: Frame) -> None:
    """Evaluate the test behind a turn, which sets what it asks: `while change > limit` reads a tensor there
    where the first turn began with a number. It is asked wherever the loop is begun, as under the condition
    `outer`."""
    condition, frame.condition = frame.condition, outer
    test_condition(machine, node.test, frame, "while")
    frame.condition = condition


def exec_for(machine: Machine, node: ast.For, frame: Frame) -> int:
    iterable = contents_of(machine, machine.eval(node.iter, frame))
    if frame.emits and isinstance(iterable, Sequence) and iterable.type == "generator":
        _runs_inside(frame)
    note_kept(machine, [iterable], node.iter, frame, "for")
    is_driven = machine.driver.follows_turns(frame)
    items = driven_items(machine, iterable, node.iter, frame) if is_driven else None
    if items is None:
        element = machine.iterate(iterable, node.iter, frame)
        if element is None:  # certainly empty
            return exec_path_of_else(machine, node, frame)
        if is_driven and machine.driver.calls is not None:
            items = guessed_items(machine, node.iter, element, frame)
    if items is not None:
        return drive_turns(machine, node, frame, turns_of_for(machine, node, frame, items))
    if machine.driver.follows_known_turns(frame):
        most = limits.MOST_KNOWN_RUNS // machine.driver.runs
        items = all_items(machine, iterable, most) or drawn_items(machine, iterable, element, most)
        if items is not None:
            turns = turns_of_items(machine, node, frame, items)
            return drive_known(machine, node, frame, turns, len(items))
    skips, frame.skips = frame.skips, frame.skips or "loop"
    outer = frame.resumes_loops
    if frame.emits and is_unmade(iterable):
        frame.resumes_loops = False
    names = _names(iterable)
    if names and machine.region.turns * len(names) <= limits.MOST_NESTED_LOOP_RUNS:
        machine.region.turns *= len(names)
        try:
            return run_each(machine, node, frame, names, skips)
        finally:
            machine.region.turns //= len(names)
            frame.resumes_loops = outer
    with machine.driver.one_for_many():
        run_loop_body(machine, node, frame, (node.target, element))
    frame.skips, frame.resumes_loops = skips, outer
    return exec_path_of_else(machine, node, frame)


def drive_turns(
    machine: Machine, node, frame: Frame, turns: Iterator[None], is_inner: bool = False
) -> int:
    """Run a loop of what makes a region's calls turn by turn: each sees what the one before left. One that may
    end sooner, in another or in a helper, does so behind a few turns, and not always as many."""
    driver, outer = machine.driver, (frame.exits, frame.breaks)
    driver.loops += 1
    try:
        most = None
        for turn, _ in enumerate(turns, 1):
            frame.exits, frame.breaks = [], []
            status = exec_path(machine, node.body, frame)
            if status == RETURN:
                return RETURN
            if status == LEAVE_LOOP and frame.breaks:
                return GO_ON
            if frame.breaks and (is_inner or driver.loops > 1):  # an open test decides
                most = most or open_turns(driver, node)
                if turn >= most:
                    return GO_ON
    finally:
        driver.loops -= 1
        frame.exits, frame.breaks = outer
    return exec_path_of_else(machine, node, frame)


def drive_known(machine: Machine, node, frame: Frame, turns: Iterator[None], count: int) -> int:
    """The same of a loop that stands in others like it, which has `count` turns."""
    before, machine.driver.runs = machine.driver.runs, machine.driver.runs * max(1, count)
    try:
        return drive_turns(machine, node, frame, turns, is_inner=True)
    finally:
        machine.driver.runs = before


def turns_of_for(
    machine: Machine, node: ast.For, frame: Frame, items: Iterable[Value]
) -> Iterator[None]:
    """Bind the loop's target to each of the items, in the file's own code to the first ones, and to the last one
    where that is known: it may be another one than all before it."""
    most = machine.driver.most_turns()
    if frame.function is not None and is_generator(frame.function):
        most = limits.MOST_KNOWN_TURNS
    if machine.driver.calls is not None and isinstance(items, list) and len(items) > most:
        items = [*items[: most - 1], items[-1]]
    for turn, item in enumerate(items):
        if machine.driver.calls is not None and turn >= most:
            return
        machine.driver.note_varying(item)
        assign_target(machine, node.target, item, frame, node)
        yield


def turns_of_items(
    machine: Machine, node: ast.For, frame: Frame, items: list[Value]
) -> Iterator[None]:
    """Bind the loop's target to each of the items, all of which are known."""
    for item in items:
        assign_target(machine, node.target, item, frame, node)
        yield


def turns_of_known(machine: Machine, node: ast.While, frame: Frame) -> Iterator[None]:
    """The turns of a `while` as long as its test is surely true; a few where what happens in them decides."""
    most = None
    for turn in range(limits.MOST_KNOWN_TURNS):
        truth = test_condition(machine, node.test, frame, "while")
        if truth is None and most is None:
            most = open_turns(machine.driver, node)
        if truth is False or (truth is None and turn >= most):
            return
        yield


def _ends_by_itself(machine: Machine, node: ast.While, frame: Frame) -> bool:
    """True for a loop whose test is known when it begins, such as `while n < size:`, or that a `break` in it
    ends, in few others."""
    is_endless = isinstance(node.test, ast.Constant) and not _has_break(node)
    if is_endless or machine.driver.runs >= limits.MOST_KNOWN_RUNS // limits.MOST_KNOWN_TURNS:
        return False
    return test_condition(machine, node.test, frame, "while") is not None


def turns_of_while(machine: Machine, node: ast.While, frame: Frame) -> Iterator[None]:
    """The turns of a `while`, a few where its test stays open."""
    most = None
    for turn in range(machine.driver.most_turns()):
        truth = test_condition(machine, node.test, frame, "while")
        if truth is None and most is None:
            most = (
                open_turns(machine.driver, node)
                if machine.driver.loops > 1
                else limits.FEW_DRIVEN_TURNS
            )
        if truth is False or (truth is None and turn >= most):
            return
        narrow_by(machine, node.test, True, frame)
        yield


def exec_path_of_else(machine: Machine, node, frame: Frame) -> int:
    return exec_block(machine, node.orelse, frame) if node.orelse else GO_ON


def run_each(machine: Machine, node: ast.For, frame: Frame, items: list[Value], skips: str) -> int:
    """Run a loop and its `else`, the body once for each of a few names: with each, other
    attributes, keys and arguments are meant. `skips` is what a break outside of the loop loses.
    """
    outer, frame.breaks = (frame.exits, frame.breaks), []
    left, status = [], GO_ON
    for item in items:
        frame.exits, frame.names = [], dict(frame.names)
        assign_target(machine, node.target, item, frame, node)
        status = run_turn(machine, node, frame)
        broken = set(map(id, frame.breaks))
        going_on = [
            names
            for names in (*([] if status else [frame.names]), *frame.exits)
            if id(names) not in broken
        ]
        left += frame.breaks
        frame.breaks = []
        if not going_on:
            status = status or LEAVE_LOOP
            break
        frame.names, status = _joined(going_on), GO_ON
    (frame.exits, frame.breaks), frame.skips = outer, skips
    status = status or exec_path_of_else(machine, node, frame)
    if status and not left:
        return status
    frame.names = _joined([*([] if status else [frame.names]), *left])
    return GO_ON


def run_turn(machine: Machine, node, frame: Frame) -> int:
    """One turn of a loop's body. From a break on, Dynamo looks for a jump back, as far as the
    first `return`: what stands in front of one does not lose the frame
    (torch._dynamo.symbolic_convert.maybe_has_backedge)."""
    if frame.skips != "loop":
        return exec_path(machine, node.body, frame)
    status = GO_ON
    for statements, returns in _parts(node):
        frame.skips = "" if returns and frame.resumes_loops else "loop"
        status = exec_path(machine, statements, frame)
        if status != GO_ON:
            break
    frame.skips = "loop"
    return status


def run_loop_body(
    machine: Machine, node, frame: Frame, step, behind: Callable[[Frame], None] | None = None
) -> None:
    """Run a loop's body until its names no longer change, at most twice more, and join
    with not running it. `behind` is called with what the first turn leaves."""
    before = frame.names
    outer_exits = frame.exits
    current = before
    for _ in range(limits.MOST_LOOP_PASSES):
        frame.exits = []
        frame.names = dict(current)
        if step is not None:
            assign_target(machine, step[0], step[1], frame, node)
        status = run_turn(machine, node, frame)
        after = [*frame.exits, *([frame.names] if status in (GO_ON,) else [])]
        if not after:
            break
        broken = set(map(id, frame.breaks))
        going_on = [names for names in after if id(names) not in broken]
        if behind is not None and frame.emits and going_on:
            frame.names = _joined(going_on)
            behind(frame)
            behind = None
        merged = current
        for names in after:
            merged = join_names(merged, names)
        if not _changed(current, merged):
            current = merged
            break
        current = merged
    frame.exits = outer_exits
    frame.names = current


def _runs_inside(frame: Frame) -> None:
    """Note that what made the generator, the last call, does its work in the loop's turns."""
    last = frame.activation.steps[-1] if frame.activation.steps else None
    if last is not None and last.child is not None:
        last.skips = last.skips or "loop"


def _last_operand(test: ast.expr) -> ast.expr:
    """The operand whose truth the jump at a loop's end tests; behind that jump nothing jumps
    back."""
    while isinstance(test, ast.BoolOp) or (
        isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
    ):
        test = test.values[-1] if isinstance(test, ast.BoolOp) else test.operand
    return test


@kept_with_node
def _parts(loop: ast.For | ast.AsyncFor | ast.While) -> list[tuple[list[ast.stmt], bool]]:
    """A loop's body in parts, and whether a `return` comes behind each before anything jumps back."""
    parts, returns = [], False
    for statement in reversed(loop.body):
        leaves = _leaves(statement)
        behind = ast.Return in leaves or (returns and ast.Continue not in leaves)
        if parts and parts[0][1] is behind:
            parts[0][0].insert(0, statement)
        else:
            parts.insert(0, ([statement], behind))
        returns = behind
    return parts


def _leaves(node: ast.AST, loops: bool = True) -> set[type]:
    """Which of Return and Continue a statement holds: not those of functions in it, nor what goes
    on with a loop in it."""
    if isinstance(node, (ast.Return, ast.Continue)):
        return {type(node)} if loops or isinstance(node, ast.Return) else set()
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.expr)):
        return set()
    loops = loops and not isinstance(node, (ast.For, ast.AsyncFor, ast.While))
    return {leaf for child in children(node) for leaf in _leaves(child, loops)}


def _has_break(node: ast.While) -> bool:
    """True where a `break` stands in a block of the loop itself."""
    waiting: list[ast.AST] = [*node.body]
    while waiting:
        part = waiting.pop()
        if isinstance(part, ast.Break):
            return True
        if isinstance(part, ast.If | ast.Try | ast.With | ast.ExceptHandler):
            waiting += children(part)
    return False


def _changed(before: dict[str, Value], after: dict[str, Value]) -> bool:
    return any(after[k] is not v and after[k] != v for k, v in before.items() if k in after)


def _joined(ends: list[dict[str, Value]]) -> dict[str, Value]:
    """The names where several paths meet."""
    names = ends[0]
    for other in ends[1:]:
        names = join_names(names, other)
    return names


def _names(iterable: Value) -> list[Value]:
    """The items of a sequence of a few constant texts, or of tuples that begin with one; none for
    any other."""
    items = iterable.items if isinstance(iterable, Sequence) and not iterable.home else None
    if not items or len(items) > limits.MOST_LOOP_NAMES:
        return []
    first = [item.items[0] if isinstance(item, Sequence) and item.items else item for item in items]
    return items if all(value.is_const and isinstance(value.value, str) for value in first) else []
