"""The rewrite of a decision by `random.random()`: the number is drawn as before, and becomes a tensor
that `torch.where` chooses by.

Imports libcst, so a rule imports this module inside its rewrite function and never at its top.
"""

from __future__ import annotations

import ast

import libcst as cst

from breakscope.rulekit import branching
from breakscope.rulekit import rewriting as rw
from breakscope.rulekit.patch import Patch, Place
from breakscope.rulekit.problem import Problem
from breakscope.rulekit.walking import uses_of, walk

# float64, so that the comparison is Python's own
DRAWN = "torch.full((), random.uniform(0, 1), dtype=torch.float64)"
CHANGES = "both sides run in every call"


def decided_by_tensor(node: cst.CSTNode, draw: cst.Call, problem: Problem, place: Place):
    """`if random.random() < p:`, a conditional expression, or a name for the answer that only such
    tests use, with the number as a tensor; None where a side cannot always run."""
    compared = next(
        (n for n in rw.parts(node) if rw.is_comparison(n) and _is_side(n, draw)),
        None,
    )
    if compared is None:
        return None
    test = rw.code(compared.deep_replace(draw, cst.parse_expression(DRAWN)))
    if isinstance(node, cst.If):
        changed = rw.swap(node, compared, test)
        tree = ast.parse(test, mode="eval").body
        made = branching.without_branch(changed, _about(problem, tree), place)
        return _unsafe(made)
    chosen = next((n for n in rw.parts(node) if isinstance(n, cst.IfExp) and n.test is compared), 0)
    if chosen:
        text = branching.choice(test, chosen.body, chosen.orelse, place)
        return _unsafe(rw.swap(node, chosen, text)) if isinstance(text, str) else text
    set_to = rw.assignment(node.body[0]) if isinstance(node, cst.SimpleStatementLine) else None
    if set_to is None or set_to[1] is not compared or not _only_chooses(set_to[0], place):
        return None
    return _unsafe(rw.swap(node, compared, test))


def _is_side(comparison: cst.Comparison, draw: cst.Call) -> bool:
    return draw in (comparison.left, comparison.comparisons[0].comparator)


def _only_chooses(name: str, place: Place) -> bool:
    """True when the function only tests the name, in conditional expressions whose sides may always
    run."""
    tests = [
        n for n in walk(place.function) if isinstance(n, ast.IfExp) and ast.unparse(n.test) == name
    ]
    loads = uses_of(place.function, name, ast.Load)
    sides = [cst.parse_expression(ast.unparse(s)) for n in tests for s in (n.body, n.orelse)]
    return len(loads) == len(tests) > 0 and all(
        rw.may_be_tensor(side) and rw.may_always_run(side) and not rw.is_number(side)
        for side in sides
    )


def _about(problem: Problem, tree: ast.expr) -> Problem:
    return Problem(problem.message, problem.help, problem.certainty, tree)


def _unsafe(made):
    if isinstance(made, cst.BaseStatement | cst.FlattenSentinel):
        return Patch(made, changes=CHANGES, safety="unsafe")
    if isinstance(made, Patch):
        return Patch(made.node, made.imports, made.also, CHANGES, "unsafe")
    return made
