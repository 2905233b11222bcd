"""Gradients of what compiled code returned, of which a gradient is taken in turn.

AOTAutograd, which inductor and the `aot_eager` backends go through, compiles one backward pass, and that one cannot be
differentiated (torch 2.13: "does not currently support double backward").
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from breakscope.rulekit.usage import Differentiated, Wrapped
from breakscope.rulekit.values import External
from breakscope.rulekit.walking import names_in, walk
from breakscope.static.usage.state import State
from breakscope.static.usage.wrapping import short

THROUGH_AOT = ("inductor", "aot_eager", "aot_eager_decomp_partition", "cudagraphs")
RUNS_EAGER = "set_stance"
ASSIGNMENTS = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.NamedExpr)


def emit_differentiated(state: State, calls: dict[int, Wrapped], function: ast.AST) -> None:
    """One event for each gradient that a function, or a module, takes with `create_graph` of what the calls of
    compiled code gave."""
    if "create_graph" not in state.module.source:
        return
    eager = _in_eager_mode(function)
    calls = {at: v for at, v in calls.items() if _compiles_backward(v) and at not in eager}
    known = _computed_of(function, calls)
    for call, outputs, created in _gradients(state, function):
        made = [known[name] for name in names_in(outputs) if name in known]
        made += [node for node in walk(outputs) if id(node) in calls]
        if made:
            state.emit(
                Differentiated,
                call,
                "likely" if isinstance(created, ast.Constant) else "possible",
                value=calls[id(made[0])],
                subject=short(made[0].func),
            )


def _in_eager_mode(function: ast.AST) -> set[int]:
    """The ids of what stands in `with torch.compiler.set_stance(...)`."""
    blocks = [node for node in walk(function) if isinstance(node, ast.With)]
    return {
        id(part)
        for block in blocks
        if any(RUNS_EAGER in ast.unparse(item.context_expr) for item in block.items)
        for part in walk(block)
    }


def _compiles_backward(value: Wrapped) -> bool:
    return "backend" not in value.settings or value.setting("backend") in THROUGH_AOT


def _computed_of(function: ast.AST, calls: dict[int, Wrapped]) -> dict[str, ast.Call]:
    """The names that a function gives to what it computes of the results of these calls, with the call."""
    assigned = [node for node in walk(function) if isinstance(node, ASSIGNMENTS) and node.value]
    known: dict[str, ast.Call] = {}
    while True:
        before = len(known)
        for node in assigned:
            parts = walk(node.value)
            made = next((part for part in parts if id(part) in calls), None)
            of = made or next((known[n] for n in names_in(node.value) if n in known), None)
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for name in (name for target in targets for name in names_in(target)) if of else ():
                known.setdefault(name, of)
        if len(known) == before:
            return known


def _gradients(state: State, function: ast.AST) -> Iterator[tuple[ast.Call, ast.expr, ast.expr]]:
    """(call, what is differentiated, the value of `create_graph`) for each gradient that may be differentiated."""
    for node in walk(function):
        if not isinstance(node, ast.Call):
            continue
        given = {keyword.arg: keyword.value for keyword in node.keywords}
        created = given.get("create_graph")
        if created is None or (isinstance(created, ast.Constant) and not created.value):
            continue
        called = state.path_value(node.func)
        if isinstance(called, External) and called.name == "torch.autograd.grad":
            outputs = node.args[0] if node.args else given.get("outputs")
            if outputs is not None:
                yield node, outputs, created
        elif isinstance(node.func, ast.Attribute) and node.func.attr == "backward":
            yield node, node.func.value, created
