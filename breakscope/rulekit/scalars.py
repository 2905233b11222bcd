"""Where a 0-d tensor may stand for the Python number that was read from it.

Imports libcst, so a rule imports this module inside its rewrite function and never at its top.
"""

from __future__ import annotations

import ast
from functools import partial

import libcst as cst

from breakscope.rulekit import rewriting as rw
from breakscope.rulekit.guarding import GUARD, guarded, has_effects
from breakscope.rulekit.patch import Also, Patch, Place
from breakscope.rulekit.walking import uses_of, walk

_ARITHMETIC = (cst.Add, cst.Subtract, cst.Multiply, cst.Divide, cst.Power)
_NUMERIC = (ast.BinOp, ast.Compare, ast.Return, ast.FormattedValue, ast.Assign, ast.Tuple)


def may_stay_tensor(statement: cst.CSTNode, wanted: cst.BaseExpression, place: Place) -> bool:
    """True when an expression is an operand of + - * / **, a side of a comparison, or all that a
    plain `name = ...` assigns, and the statement gives no number to a caller or a container."""
    if isinstance(statement, cst.SimpleStatementLine):
        if len(statement.body) != 1 or isinstance(statement.body[0], cst.Expr):
            return False
    for node in rw.parts(statement):
        if isinstance(node, cst.BinaryOperation) and wanted in (node.left, node.right):
            other = node.right if wanted is node.left else node.left
            return isinstance(node.operator, _ARITHMETIC) and (
                not _is_given_away(statement, place) or _is_tensor_here(other, place)
            )
        if rw.is_comparison(node) and wanted in (node.left, node.comparisons[0].comparator):
            return not _is_given_away(statement, place)
        if isinstance(node, cst.Assign) and node.value is wanted:
            return rw.assignment(node) is not None and not _is_given_away(statement, place)
    return False


def is_tested(statement: cst.CSTNode, wanted: cst.BaseExpression) -> bool:
    """True when an expression is all that an `if`, a conditional expression or an `assert` tests, or an
    operand of its `not`, `and` and `or`: of a tensor with one element, or its number, the truth is the
    same."""
    waiting: list[cst.BaseExpression] = []
    if isinstance(statement, cst.If):
        waiting.append(statement.test)
    elif rw.single(statement) is not None:
        tests = (n.test for n in rw.walk(statement) if isinstance(n, cst.IfExp | cst.Assert))
        waiting += tests
    while waiting:
        part = waiting.pop()
        if part is wanted:
            return True
        if isinstance(part, cst.BooleanOperation):
            waiting += [part.left, part.right]
        elif isinstance(part, cst.UnaryOperation) and isinstance(part.operator, cst.Not):
            waiting.append(part.expression)
    return False


def only_for_text(statement: cst.CSTNode, place: Place) -> cst.If | Patch | None:
    """A plain `name = ...` under `if not torch.compiler.is_compiling():`, where all that reads the name
    stands under that guard; None for others."""
    if rw.single(statement) is None:
        return None
    set_to = rw.assignment(statement.body[0])
    if set_to is None or set_to[2] or place.function is None:
        return None
    blocks = [
        block
        for block in walk(place.function)
        if isinstance(block, ast.If) and ast.unparse(block.test) == GUARD and not block.orelse
    ]
    under = [n for block in blocks for n in walk(block)]
    named = uses_of(place.function, set_to[0])
    loads = [n for n in named if isinstance(n.ctx, ast.Load)]
    outside = [n for n in loads if not any(n is other for other in under)]
    if not loads or outside or len(named) != len(loads) + 1:
        return None
    value = ast.parse(f"({rw.code(set_to[1])})", mode="eval").body
    if has_effects(value):
        return None
    behind = place.behind[0] if place.behind else None
    if "#" in rw.code(statement) or not isinstance(behind, ast.If) or behind not in blocks:
        return guarded(statement)
    return Patch(cst.FlattenSentinel([]), also=(Also(behind, partial(_with_line, statement)),))


def _with_line(line: cst.SimpleStatementLine, block: cst.CSTNode) -> cst.If | None:
    """A block with this line in front."""
    if not isinstance(block, cst.If) or not isinstance(block.body, cst.IndentedBlock):
        return None
    first = line.with_changes(leading_lines=())
    return block.with_changes(
        body=block.body.with_changes(body=[first, *block.body.body]),
        leading_lines=(*line.leading_lines, *block.leading_lines),
    )


def _is_given_away(statement: cst.CSTNode, place: Place) -> bool:
    """True for a `return`, and for a name that the function returns or puts into a container."""
    if not isinstance(statement, cst.SimpleStatementLine):
        return False
    store = statement.body[0]
    if isinstance(store, cst.Return):
        return True
    set_to = rw.assignment(store)
    if set_to is None or place.function is None:
        return True
    return any(_gives_away(node, set_to[0]) for node in walk(place.function))


def _gives_away(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.Return):
        given = [node.value]
    elif isinstance(node, ast.Tuple | ast.List):
        given = [] if isinstance(node.ctx, ast.Store) else node.elts
    elif isinstance(node, ast.Dict):
        given = node.values
    elif isinstance(node, ast.Call):
        # a number that Python needs: a size, a count, an index, the key of a sort
        called = ast.unparse(node.func).rpartition(".")[2]
        given = [] if called in _TAKES_TENSORS else [*node.args, *(k.value for k in node.keywords)]
    elif isinstance(node, ast.Subscript):
        given = [node.slice]
    elif isinstance(node, ast.Slice):
        given = [node.lower, node.upper]
    else:
        return False
    return any(isinstance(value, ast.Name) and value.id == name for value in given)


_TAKES_TENSORS = frozenset(
    "where clamp add sub mul div maximum minimum mul_ div_ add_ sub_ isfinite isnan print warning info debug"
    " full_like sqrt exp log lerp copy_ isinf abs pow stack".split()
)


def _is_tensor_here(node: cst.BaseExpression, place: Place) -> bool:
    """True for a call of a method, and for a name that an argument or a call gives its value."""
    if any(isinstance(n, cst.Call) and isinstance(n.func, cst.Attribute) for n in rw.walk(node)):
        return True
    if isinstance(node, cst.BinaryOperation):
        return _is_tensor_here(node.left, place) or _is_tensor_here(node.right, place)
    if not isinstance(node, cst.Name) or place.function is None:
        return False
    arguments = {n.arg for n in walk(place.function.args) if isinstance(n, ast.arg)}
    value = place.only_value_of(node.value)
    return node.value in arguments or (
        value is not None and any(isinstance(n, ast.Call) for n in walk(value))
    )


def kept_by(statement: cst.CSTNode, wanted: cst.BaseExpression, place: Place) -> str:
    """The attribute of an object that a statement sets to the expression, where no code of the file
    needs a Python number of it; "" for other statements."""
    store = rw.single(statement)
    if store is None:
        return ""
    if not isinstance(store, cst.Assign) or store.value is not wanted or len(store.targets) != 1:
        return ""
    target = store.targets[0].target
    if not isinstance(target, cst.Attribute) or not isinstance(target.value, cst.Name):
        return ""
    name = target.attr.value
    for node in walk(place.tree):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Attribute) and child.attr == name:
                if isinstance(child.ctx, ast.Load) and not isinstance(node, _NUMERIC):
                    return ""
    return rw.code(target)


def detached(value: cst.BaseExpression) -> str:
    """The source of a tensor without its gradient."""
    return rw.code(value) if _is_detached(value) else f"{rw.operand(value)}.detach()"


def _is_detached(value: cst.BaseExpression) -> bool:
    """True for a chain of methods without arguments that begins at `.detach()`."""
    if not isinstance(value, cst.Call) or not isinstance(value.func, cst.Attribute) or value.args:
        return False
    return value.func.attr.value == "detach" or _is_detached(value.func.value)
