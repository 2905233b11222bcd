"""The rewrite of `if drawn < p:`, where `drawn` was drawn from 0 to 1 before and `p` may be 0: the
test of `p` goes first, and Python decides it.

Imports libcst, so a rule imports this module inside its rewrite function and never at its top.
"""

from __future__ import annotations

import ast

import libcst as cst

from breakscope.rulekit import rewriting as rw
from breakscope.rulekit.patch import Patch, Place
from breakscope.rulekit.walking import uses_of, walk

CHANGES = "nothing: no number that is drawn lies below 0. The graph still ends here where `{}` is above it"


def zero_first(node: cst.If, problem, place: Place) -> Patch | None:
    """`if p > 0 and drawn < p:`, which draws as before and never looks at the tensor where `p` is 0;
    None for other tests."""
    test = node.test
    if not rw.same(test, problem.node) or not isinstance(test, cst.Comparison):
        return None
    if len(test.comparisons) != 1 or "#" in rw.code(test):
        return None
    left, right = test.left, test.comparisons[0].comparator
    operator = test.comparisons[0].operator
    if isinstance(operator, cst.LessThan):
        drawn, bound = left, right
    elif isinstance(operator, cst.GreaterThan):
        bound, drawn = left, right
    else:
        return None
    shown = rw.dotted(bound)
    if not isinstance(drawn, cst.Name) or not shown or not _is_drawn(drawn.value, place):
        return None
    if not _is_number_by_name(bound, place):
        return None
    both = f"{shown} > 0 and {rw.code(test.with_changes(lpar=[], rpar=[]))}"
    new = cst.parse_expression(both).with_changes(lpar=test.lpar, rpar=test.rpar)
    return Patch(node.with_changes(test=new), changes=CHANGES.format(shown))


def _is_drawn(name: str, place: Place) -> bool:
    """True when every value that the function gives the name is a draw of `torch.rand`."""
    function = place.function
    if function is None or any(isinstance(n, ast.arg) and n.arg == name for n in walk(function)):
        return False
    stores = uses_of(function, name, ast.Store, ast.Del)
    values = [
        n.value
        for n in walk(function)
        if isinstance(n, ast.Assign) and len(n.targets) == 1 and n.targets[0] in stores
    ]
    return len(values) == len(stores) > 0 and all(
        isinstance(value, ast.Call) and ast.unparse(value.func) == "torch.rand" for value in values
    )


def _is_number_by_name(bound: cst.BaseExpression, place: Place) -> bool:
    """False for a name that the function computes: it may be a tensor, and then nothing is won."""
    if not isinstance(bound, cst.Name):
        return True
    return not uses_of(place.function, bound.value, ast.Store)
