"""Rewrites that take a statement away.

Imports libcst, so a rule imports this module inside its rewrite function and never at its top.
"""

from __future__ import annotations

import libcst as cst

from breakscope.rulekit.patch import Place
from breakscope.rulekit.rewriting import same


def without_statement(node: cst.CSTNode, problem, place: Place):
    """Nothing in the place of a statement that is the flagged call and nothing else; `pass` where it
    is all that its block has. None for other statements."""
    if not isinstance(node, cst.SimpleStatementLine) or len(node.body) != 1:
        return None
    if not isinstance(node.body[0], cst.Expr) or not same(node.body[0].value, problem.node):
        return None
    if len(place.block) < 2:
        return node.with_changes(body=[cst.Pass()])
    return cst.FlattenSentinel([])
