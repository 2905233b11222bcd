"""Numbers that a region counts up and down again, or puts back: it leaves them as it found them."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from breakscope.rulekit.walking import walk_lines
from breakscope.static.machine.frames import Activation

LOOPS = ast.For | ast.AsyncFor | ast.While


def undone(pending: Iterable[tuple[Activation, int, tuple]]) -> set[tuple]:
    """The keys of what each function that changes it adds to and takes from alike, as `self.depth += 1` and
    `self.depth -= 1` around a call do, or sets last to what it was: `before = self.depth`, `self.depth = before`."""
    changes: dict[tuple, dict[int, list[tuple[Activation, ast.AST]]]] = {}
    for activation, index, key in pending:
        event = activation.steps[index].event
        changes.setdefault(key, {}).setdefault(id(activation), []).append(
            (activation, None if event.condition or event.undecided else event.node)
        )
    return {key for key, by_run in changes.items() if all(map(_cancel, by_run.values()))}


def _cancel(stores: list[tuple[Activation, ast.AST | None]]) -> bool:
    activation, last = stores[-1]
    if isinstance(last, ast.Assign) and isinstance(last.value, ast.Name):
        return _puts_back(activation, last, stores[0][1] or last)
    steps = [_step_of(node) for _, node in stores]
    if None in steps or sum(steps) != 0:
        return False
    return not any(_is_in_loop(activation, node) for activation, node in stores)


def _puts_back(activation: Activation, last: ast.Assign, first: ast.AST) -> bool:
    """True where a name has kept what stood there before the first store, and nothing else."""
    bound = [
        part
        for part in walk_lines(activation.module.tree, activation.line, last.lineno)
        if isinstance(part, ast.Assign)
        and activation.line <= part.lineno <= last.lineno
        and any(getattr(target, "id", "") == last.value.id for target in part.targets)
    ]
    is_kept = len(bound) == 1 and bound[0].lineno < first.lineno
    return is_kept and ast.unparse(bound[0].value) == ast.unparse(last.targets[0])


def _step_of(node: ast.AST | None) -> float | None:
    """What `+= 1` or `-= 1` changes a number by; None for any other store."""
    if not isinstance(node, ast.AugAssign) or not isinstance(node.op, ast.Add | ast.Sub):
        return None
    by = getattr(node.value, "value", None)
    if type(by) not in (int, float):
        return None
    return by if isinstance(node.op, ast.Add) else -by


def _is_in_loop(activation: Activation, node: ast.AST) -> bool:
    around = walk_lines(activation.module.tree, node.lineno, node.lineno)
    loops = (part for part in around if isinstance(part, LOOPS))
    return any(loop.lineno < node.lineno <= loop.end_lineno for loop in loops)
