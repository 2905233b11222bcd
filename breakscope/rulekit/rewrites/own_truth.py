"""The rewrite of `if span:` where the class of `span` answers by a tensor's value in `__bool__`: the branch
takes the tensor itself.

Imports libcst, so a rule imports this module inside its rewrite function and never at its top.
"""

from __future__ import annotations

import ast
from functools import partial

import libcst as cst
from msgspec import Struct

from breakscope.rulekit import branching
from breakscope.rulekit import rewriting as rw
from breakscope.rulekit.patch import Also, Declined, Patch, Place, place_of
from breakscope.rulekit.walking import names_in, walk


class Tested(Struct, frozen=True):
    """What a branch tests, where a rule's problem is expected."""

    node: ast.expr


def truth_where_tested(problem, place: Place) -> Patch | None:
    """The fix of `return bool(self.mask.any())` in `__bool__`, at each `if` of an object that its function
    makes; None where there is none, or for other answers."""
    owner, function = place.owner, place.function
    if owner is None or owner not in place.tree.body or len(function.body) != 1:
        return None
    answer = function.body[0].value if isinstance(function.body[0], ast.Return) else None
    if answer is not problem.node or len(answer.args) != 1:
        return None
    truth = answer.args[0]
    own = function.args.args[0].arg
    if names_in(truth) - {own, "torch"}:
        return None
    if not rw.is_bool_tensor(cst.parse_expression(ast.unparse(truth))):
        return None
    changed = []
    for node in walk(place.tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name):
            there = place_of(place.tree, node)
            made = there.only_value_of(node.test.id)
            if isinstance(made, ast.Call) and ast.unparse(made.func) == owner.name:
                text = _of(truth, own, node.test.id)
                changed.append(Also(node, partial(_without_branch, text=text, place=there)))
    return Patch(None, also=tuple(changed)) if changed else None


def _of(truth: ast.expr, own: str, name: str) -> str:
    """The source of a truth, of another object than `self`."""
    tree = ast.parse(ast.unparse(truth), mode="eval").body
    for node in walk(tree):
        if isinstance(node, ast.Name) and node.id == own:
            node.id = name
    return ast.unparse(tree)


def _without_branch(node: cst.CSTNode, text: str, place: Place):
    if not isinstance(node, cst.If):
        return None
    tested = node.with_changes(test=cst.parse_expression(text))
    made = branching.without_branch(tested, Tested(ast.parse(text, mode="eval").body), place)
    return None if isinstance(made, Declined | Patch) else made
