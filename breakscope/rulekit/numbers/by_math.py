"""What NumPy computes of Python's numbers, written with `math`: an array while Dynamo traces, or a number."""

from __future__ import annotations

import ast

# functions of both that give the same for a number
OF_BOTH = frozenset("ceil exp floor log log10 log1p log2 prod sin cos tan tanh sqrt trunc".split())
WHOLE = frozenset({"math.ceil", "math.floor", "math.trunc"})  # give an int
NUMPY = frozenset({"np", "numpy"})
CHANGES = "`math` may differ from NumPy in the last digit, and raises where there is no result, as for `math.log(0)`"


def by_math(node: ast.expr) -> str:
    """The source of the expression with `math` in the place of NumPy; "" where it has none, or more than
    what both have, and where an attribute may be a number of NumPy's itself."""
    if any(
        isinstance(part, ast.Attribute) and ast.unparse(part).startswith("self.")
        for part in ast.walk(node)
    ):
        return ""
    made = _WithMath().visit(ast.parse(ast.unparse(node), mode="eval")).body
    text = ast.unparse(made)
    is_left = any(isinstance(part, ast.Name) and part.id in NUMPY for part in ast.walk(made))
    return "" if is_left or text == ast.unparse(node) else text


def rewritten_by_math(node, problem):
    """The fix of a statement with the flagged expression; None where `math` does not have all of it."""

    from breakscope.rulekit import rewriting as rw
    from breakscope.rulekit.patch import Patch

    found = rw.find_in_line(node, problem)
    text = by_math(problem.node) if found is not None else ""
    made = rw.swap(node, found, text) if text else None
    return None if made is None else Patch(made, imports=("import math",), changes=CHANGES)


class _WithMath(ast.NodeTransformer):
    def visit_Call(self, node: ast.Call) -> ast.expr:
        args, name = node.args, getattr(node.func, "attr", "")
        owner = getattr(node.func, "value", None)
        is_number = (
            name == "item" and not args and _root(owner) in NUMPY
        )  # a tensor keeps its `.item()`
        self.generic_visit(node)
        if is_number:
            return _as_number(node.func.value)
        is_of_numpy = isinstance(owner, ast.Name) and owner.id in NUMPY
        if is_of_numpy and name in OF_BOTH and len(args) == 1 and not node.keywords:
            node.func = ast.Attribute(ast.Name("math"), name)
        return node


def _as_number(read: ast.expr) -> ast.expr:
    """What stands before `.item()`, as a number of Python's."""
    if not (isinstance(read, ast.Call) and getattr(read.func, "attr", "") == "astype"):
        return read
    if "int" not in ast.unparse(read.args[0] if read.args else read.func):
        return read
    inner = read.func.value
    is_whole = isinstance(inner, ast.Call) and ast.unparse(inner.func) in WHOLE
    return inner if is_whole else ast.Call(ast.Name("int"), [inner], [])


def _root(node: ast.expr | None) -> str:
    """The first name of calls and attributes behind each other."""
    while isinstance(node, ast.Call | ast.Attribute):
        node = node.func if isinstance(node, ast.Call) else node.value
    return getattr(node, "id", "")
