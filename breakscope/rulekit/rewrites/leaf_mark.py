"""The rewrite that takes the mark of a leaf away, `h.requires_grad_()` or `h.requires_grad = True`, where
nobody reads the gradient of that tensor.

Imports libcst, so a rule imports this module inside its rewrite function and never at its top.
"""

from __future__ import annotations

import ast

import libcst as cst

from breakscope.rulekit import rewriting as rw
from breakscope.rulekit.patch import Patch, Place
from breakscope.rulekit.walking import walk

CHANGES = (
    "`{}` is no leaf of autograd any more: the result needs a gradient only where a parameter or another input"
    " does"
)
# attributes and methods of a tensor by which its gradient, or that it has one, is seen
SEEN = frozenset(
    "grad backward retain_grad register_hook is_leaf grad_fn register_post_accumulate_grad_hook".split()
)
TAKE_LEAVES = ("autograd.grad", "autograd.backward")


def without_mark(node: cst.CSTNode, place: Place) -> Patch | cst.CSTNode | None:
    """The statement without its mark; None where it is no mark of a tensor that the function makes
    itself, or where the tensor's gradient may be read."""
    if rw.single(node) is None:
        return None
    name, call = _marked(node.body[0])
    if not name or place.function is None or leaves(name, place) or not _is_made(name, place):
        return None
    changes = CHANGES.format(name)
    if call is not None:
        made = rw.swap(node, call, rw.code(call.func.value))
        return made and Patch(made, changes=changes)
    if "#" in rw.code(node):
        return None
    left = node.with_changes(body=[cst.Pass()]) if len(place.block) < 2 else cst.FlattenSentinel([])
    return Patch(left, changes=changes)


def _marked(statement: cst.BaseSmallStatement) -> tuple[str, cst.Call | None]:
    """The name of the tensor that is marked, and the call where the rest of its line stays."""
    if isinstance(statement, cst.Expr) and is_mark(_tree(statement.value)):
        return rw.dotted(statement.value.func.value), None
    if not isinstance(statement, cst.Assign) or len(statement.targets) != 1:
        return "", None
    target = statement.targets[0].target
    if isinstance(target, cst.Attribute) and target.attr.value == "requires_grad":
        is_on = isinstance(statement.value, cst.Name) and statement.value.value == "True"
        return (rw.dotted(target.value) if is_on else ""), None
    if isinstance(target, cst.Name) and is_mark(_tree(statement.value)):
        return target.value, statement.value
    return "", None


def _tree(value: cst.BaseExpression) -> ast.expr:
    return ast.parse(f"({rw.code(value)})", mode="eval").body


def is_mark(value: ast.expr, name: str = "") -> bool:
    """True for `x.requires_grad_()`, of any expression or of this name."""
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute):
        return False
    if value.func.attr != "requires_grad_" or (name and ast.unparse(value.func.value) != name):
        return False
    given = [*value.args, *(k.value for k in value.keywords)]
    return all(isinstance(one, ast.Constant) and one.value is True for one in given)


def leaves(name: str, place: Place) -> bool:
    """True when a tensor is returned, kept in an attribute or a container, or asked for its gradient."""
    return any(
        isinstance(value, ast.Name) and value.id == name
        for node in walk(place.function)
        for value in _given_away(node, place)
    )


def _given_away(node: ast.AST, place: Place) -> list[ast.expr | None]:
    if isinstance(node, ast.Return | ast.Yield | ast.Assign):
        return [node.value]
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return [] if any(node is part for part in walk(place.statement)) else node.elts
    if isinstance(node, ast.Dict):
        return node.values
    if isinstance(node, ast.Attribute):
        return [node.value] if node.attr in SEEN else []
    if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(TAKE_LEAVES):
        is_own = any(node is part for part in walk(place.statement))
        return [] if is_own else [*node.args, *(k.value for k in node.keywords)]
    return []


def _is_made(name: str, place: Place) -> bool:
    """True for a tensor that only this function has: each of its values is computed there."""
    values = [
        n.value
        for n in walk(place.function)
        if isinstance(n, ast.Assign) and any(ast.unparse(target) == name for target in n.targets)
    ]
    if name in {n.arg for n in walk(place.function.args) if isinstance(n, ast.arg)}:
        # `x = x.detach().requires_grad_()` marks what the call before it made
        return bool(values) and all(
            is_mark(v) and isinstance(v.func.value, ast.Call) for v in values
        )
    return bool(values) and all(isinstance(v, ast.Call | ast.BinOp | ast.UnaryOp) for v in values)
