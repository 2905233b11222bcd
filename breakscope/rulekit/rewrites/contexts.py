"""Rewrites of `with` blocks.

Imports libcst, so a rule imports this module inside its rewrite function and never at its top.
"""

from __future__ import annotations

import ast

import libcst as cst

from breakscope.rulekit.patch import Also, Declined, Patch, Place
from breakscope.rulekit.rewriting import code, dotted
from breakscope.rulekit.walking import uses_of, walk


def without_stack(place: Place):
    """`with ExitStack() as s: s.enter_context(a); ...` as `with a: ...`, where the stack does nothing
    else and is entered first."""
    block = place.parents[-1]
    if not isinstance(block, ast.With) or len(block.items) != 1:
        return None
    item = block.items[0]
    if not isinstance(item.optional_vars, ast.Name) or len(block.body) < 2:
        return None
    if not isinstance(item.context_expr, ast.Call) or item.context_expr.args:
        return None
    stack = item.optional_vars.id
    entered = 0
    for line in block.body:
        if not _enters(line, stack):
            break
        entered += 1
    uses = len(uses_of(block, stack))
    others = len(uses_of(place.function or block, stack))
    if not entered or entered == len(block.body) or not uses == others == entered + 1:
        return None
    return Patch(None, also=(Also(block, lambda node: _entered_plainly(node, entered)),))


def _enters(line: ast.stmt, stack: str) -> bool:
    """`stack.enter_context(a)` or `b = stack.enter_context(a)`."""
    if isinstance(line, ast.Assign):
        if len(line.targets) != 1 or not isinstance(line.targets[0], ast.Name):
            return False
    elif not isinstance(line, ast.Expr):
        return False
    call = line.value
    return (
        isinstance(call, ast.Call)
        and len(call.args) == 1
        and not isinstance(call.args[0], ast.Starred)
        and not call.keywords
        and ast.unparse(call.func) == f"{stack}.enter_context"
    )


def _entered_plainly(node: cst.With, entered: int):
    if not isinstance(node, cst.With) or not isinstance(node.body, cst.IndentedBlock):
        return None
    items = []
    for line in node.body.body[:entered]:
        if len(line.body) != 1 or line.leading_lines or line.trailing_whitespace.comment:
            return None
        statement = line.body[0]
        name = statement.targets[0].target if isinstance(statement, cst.Assign) else None
        items.append(
            cst.WithItem(
                statement.value.args[0].value,
                cst.AsName(name) if name is not None else None,
            )
        )
    return node.with_changes(
        items=items, body=node.body.with_changes(body=node.body.body[entered:])
    )


NOT_LOCKED = "compiled code does not take `{}`, and does not wait for who holds it"


def lock_in_eager_only(node: cst.CSTNode, place: Place):
    """`with lock:` with `nullcontext()` in the place of the lock while Dynamo traces; None for a block
    of which another thread could see half."""
    if not isinstance(node, cst.With) or node.asynchronous or len(node.items) != 1:
        return None
    item = node.items[0]
    if item.asname or not dotted(item.item):
        return None
    if not _is_one_store(place.statement):
        return Declined("the block may read and write what the lock guards")
    lock = code(item.item)
    held = f"contextlib.nullcontext() if torch.compiler.is_compiling() else {lock}"
    made = node.with_changes(items=[item.with_changes(item=cst.parse_expression(held))])
    return Patch(made, imports=("import contextlib",), changes=NOT_LOCKED.format(lock))


def _is_one_store(block: ast.With) -> bool:
    """True when all that a block changes are local names, or one place that it does not read; it
    calls nothing but torch's functions and methods of local names."""
    nodes = [n for line in block.body for n in walk(line)]
    if not all(isinstance(n, ast.Assign | ast.AugAssign) for n in block.body):
        return False
    shared = [n for n in nodes if not isinstance(getattr(n, "ctx", ast.Load()), ast.Load)]
    shared = [n for n in shared if not isinstance(n, ast.Name)]
    calls = [ast.unparse(n.func) for n in nodes if isinstance(n, ast.Call)]
    if any("." not in name or name.startswith("self.") for name in calls):
        return False
    if not shared:
        return True
    read = {ast.unparse(n) for n in nodes if isinstance(n, ast.Attribute) and n not in shared}
    return (
        len(block.body) == 1
        and isinstance(block.body[0], ast.Assign)
        and not ({ast.unparse(n) for n in shared} & read)
    )


def is_without_gradients(place: Place) -> bool:
    """True for a statement in a `with torch.no_grad():`, or in a function under its decorator."""
    around = [
        item.context_expr for n in place.parents if isinstance(n, ast.With) for item in n.items
    ]
    around += place.function.decorator_list if place.function is not None else []
    names = {ast.unparse(n.func if isinstance(n, ast.Call) else n) for n in around}
    return bool(names & {"torch.no_grad", "torch.inference_mode"}) and not any(
        ast.unparse(n).startswith(("torch.enable_grad", "torch.set_grad_enabled")) for n in around
    )


def without_decorator(function: ast.FunctionDef, name: str):
    """A patch that takes the decorators of this dotted name from a function."""

    def rewrite(node: cst.CSTNode):
        if not isinstance(node, cst.FunctionDef):
            return None
        kept = [d for d in node.decorators if not _is_called(d.decorator, name)]
        if len(kept) == len(node.decorators) or any(d.leading_lines for d in node.decorators[1:]):
            return None
        return node.with_changes(decorators=kept)

    return Patch(None, also=(Also(function, rewrite),))


def _is_called(node: cst.BaseExpression, name: str) -> bool:
    if isinstance(node, cst.Call):
        return dotted(node.func) == name
    return dotted(node) == name
