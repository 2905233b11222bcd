"""The rewrite of `if mask.any(): out[mask] = expert(x[mask])`: without the test, since where no row is
chosen none changes.

Imports libcst, so a rule imports this module inside its rewrite function and never at its top.
"""

from __future__ import annotations

import ast
import re
from functools import partial

import libcst as cst

from breakscope.rulekit import rewriting as rw
from breakscope.rulekit.patch import Also, Patch, Place
from breakscope.rulekit.purity import is_stateless_value, may_run_alone
from breakscope.rulekit.walking import gone_over, uses_of

CHANGES = (
    "what follows the test runs for no rows, too; the parameters of a module that gets none have a gradient of"
    " zeros, not None"
)
# `{}` is the mask, or the indices
SOME = ("{}.any()", "torch.any({})", "{}.sum() > 0")
NOT_EMPTY = (
    *SOME,
    "{}.numel() > 0",
    "{}.numel() != 0",
    "len({}) > 0",
    "{}.shape[0] > 0",
    "{}.size(0) > 0",
)
# refuse an empty tensor
NEED_ROWS = re.compile(
    r"(?:arg|a)?(?:max|min)|median|mode|topk|kthvalue|squeeze|view|reshape|item"
).fullmatch


def without_test(node: cst.If, place: Place) -> Patch | None:
    """The fix of the flagged `if` itself; None for other blocks."""
    made = _unconditional(node, place)
    return Patch(made, changes=CHANGES) if made is not None else None


def without_test_behind(place: Place) -> Patch | None:
    """The fix of `idx = nonzero(...)` that takes the test of `idx.numel() > 0` away behind it."""
    stored = place.statement.targets if isinstance(place.statement, ast.Assign) else []
    if len(stored) != 1 or not isinstance(stored[0], ast.Name):
        return None
    for line in place.behind:
        if isinstance(line, ast.If) and _chosen(ast.unparse(line.test)) == stored[0].id:
            there = Place(place.tree, line, place.parents, place.names)
            also = Also(line, partial(_unconditional, place=there))
            return Patch(None, also=(also,), changes=CHANGES)
    return None


def _chosen(test: str) -> str:
    """The mask or the indices that a test finds not to be empty."""
    return next((found for form in NOT_EMPTY if (found := _fits(form, test))), "")


def _fits(form: str, test: str) -> str:
    found = re.fullmatch(re.escape(form).replace(r"\{\}", r"(\w+)"), test)
    return found[1] if found else ""


def _unconditional(node: cst.CSTNode, place: Place):
    if not isinstance(node, cst.If) or node.orelse or not isinstance(node.body, cst.IndentedBlock):
        return None
    test = rw.code(node.test)
    name = _chosen(test)
    if any(_fits(form, test) for form in SOME) and not rw.is_bool_tensor(cst.Name(name), place):
        return None  # of indices, 0 counts as none
    lines = list(node.body.body)
    if not name or node.body.footer or node.body.header.comment:
        return None
    if not all(rw.single(n) is not None for n in lines):
        return None
    rows: set[str] = set()  # names that hold nothing but chosen rows
    for line in lines:
        value = _stored_rows(line.body[0], name)
        if value is None:
            set_to = rw.assignment(line.body[0])
            if set_to is None or set_to[2] or not place.is_only_inside(set_to[0]):
                return None
            rows.add(set_to[0])
            value = set_to[1]
        if not _may_run_without_rows(value, place):
            return None
    above = (*node.leading_lines, *lines[0].leading_lines)
    made = [lines[0].with_changes(leading_lines=above), *lines[1:]]
    return made[0] if len(made) == 1 else cst.FlattenSentinel(made)


def _stored_rows(statement: cst.BaseSmallStatement, name: str) -> cst.BaseExpression | None:
    """What `out[name] = ...`, `out[name] += ...` or `out.index_add_(0, name, ...)` puts into the chosen
    rows."""
    if isinstance(statement, cst.Assign) and len(statement.targets) == 1:
        target = statement.targets[0].target
    elif isinstance(statement, cst.AugAssign):
        target = statement.target
    else:
        call = statement.value if isinstance(statement, cst.Expr) else None
        given = rw.arguments(call) if isinstance(call, cst.Call) else None
        if not given or given[1] or len(given[0]) != 3 or rw.called(call) != "index_add_":
            return None
        return given[0][2] if rw.code(given[0][1]) == name else None
    if not isinstance(target, cst.Subscript) or len(target.slice) != 1:
        return None
    index = target.slice[0].slice
    is_chosen = isinstance(index, cst.Index) and rw.code(index.value) == name
    return statement.value if is_chosen else None


def _may_run_without_rows(value: cst.BaseExpression, place: Place) -> bool:
    """True for an expression that changes nothing and takes an empty tensor."""
    for part in rw.walk(value):
        if isinstance(part, cst.Call):
            if NEED_ROWS(rw.called(part)) or not (
                _is_module_of_list(part.func, place)
                or may_run_alone(part.with_changes(args=()), place)
            ):
                return False
        if isinstance(part, cst.Yield | cst.Await | cst.NamedExpr | cst.Lambda):
            return False
    return True


def _is_module_of_list(func: cst.BaseExpression, place: Place) -> bool:
    """True for a module of `self.experts`, by its number or as the variable of a loop over them."""
    if isinstance(func, cst.Subscript):
        return _holds_stateless(rw.dotted(func.value), place)
    if not isinstance(func, cst.Name) or place.function is None:
        return False
    stores = uses_of(place.function, func.value, ast.Store, ast.Del)
    for loop in (n for n in place.parents if isinstance(n, ast.For)):
        over, target = gone_over(loop)
        if stores == [target]:
            return _holds_stateless(ast.unparse(over), place)
    return False


def _holds_stateless(name: str, place: Place) -> bool:
    made = place.made_in_init(name.removeprefix("self.")) if name.startswith("self.") else None
    if not isinstance(made, ast.Call) or len(made.args) != 1:
        return False
    if ast.unparse(made.func).rpartition(".")[2] != "ModuleList":
        return False
    held = made.args[0]
    if isinstance(held, ast.ListComp | ast.GeneratorExp):
        return is_stateless_value(held.elt)
    return isinstance(held, ast.List) and all(map(is_stateless_value, held.elts))
