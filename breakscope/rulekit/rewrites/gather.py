"""The rewrite of `x[t]` by a 0-d tensor: the index is made 1-d, which is a gather.

Imports libcst, so a rule imports this module inside its rewrite function and never at its top.
"""

from __future__ import annotations

import ast

import libcst as cst

from breakscope.rulekit import rewriting as rw
from breakscope.rulekit.patch import Declined, Place
from breakscope.rulekit.walking import uses_of, walk


def as_gather(node: cst.SimpleStatementLine, problem, place: Place):
    """`x[t[None]][0]` in the place of `x[t]`; None for other forms of index."""
    found = rw.find(node, problem)
    if not isinstance(found, cst.Subscript) or len(node.body) != 1:
        return None
    if any(
        isinstance(n, cst.AssignTarget | cst.AugAssign | cst.Del) and found in n.children
        for n in rw.walk(node)
    ):
        return None
    indices = [part.slice.value for part in found.slice if isinstance(part.slice, cst.Index)]
    if len(indices) != len(found.slice) or not indices:
        return None
    *counted, index = indices
    if not all(_counts(i, place) for i in counted) or not _is_index(index):
        return None
    if _is_changed(node, found, place):
        return Declined("what is read there may be changed in place")
    before = "".join(f"{rw.code(i)}, " for i in counted)
    return rw.swap(node, found, f"{rw.code(found.value)}[{before}{rw.operand(index)}[None]][0]")


def _is_index(index: cst.BaseExpression) -> bool:
    return isinstance(
        index, cst.Name | cst.Attribute | cst.Call | cst.Subscript | cst.BinaryOperation
    )


def _counts(index: cst.BaseExpression, place: Place) -> bool:
    """True for a whole number, as it is written or as the only loops that set its name count it."""
    if isinstance(index, cst.Integer):
        return True
    if not isinstance(index, cst.Name) or place.function is None:
        return False
    loops = [n for n in walk(place.function) if isinstance(n, ast.For | ast.comprehension)]
    targets = [
        loop.target
        for loop in loops
        if isinstance(loop.iter, ast.Call) and ast.unparse(loop.iter.func) == "range"
    ]
    stores = uses_of(place.function, index.value, ast.Store, ast.Del)
    return bool(stores) and all(store in targets for store in stores)


def _is_changed(node: cst.SimpleStatementLine, found: cst.Subscript, place: Place) -> bool:
    """True when the function changes what is read in place, as far as it shows."""
    for part in rw.walk(node):
        if isinstance(part, cst.Attribute) and part.value is found:
            return bool(rw.is_effect(part.attr.value))
    set_to = rw.assignment(node.body[0])
    if set_to is None:
        return False
    if set_to[1] is not found or place.function is None:
        return False
    name = set_to[0]
    for part in walk(place.function):
        target = part.target if isinstance(part, ast.AugAssign) else part
        if isinstance(part, ast.AugAssign | ast.Attribute | ast.Subscript):
            inner = target
            while isinstance(inner, ast.Attribute | ast.Subscript):
                inner = inner.value
            is_own = isinstance(inner, ast.Name) and inner.id == name
            stores = not isinstance(getattr(target, "ctx", ast.Load()), ast.Load)
            acts = isinstance(part, ast.Attribute) and bool(rw.is_effect(part.attr))
            if is_own and (stores or acts):
                return True
    return False
