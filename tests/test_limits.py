"""Each limit has a reason, is used, and stands in one place."""

import ast
from pathlib import Path

from breakscope import limits

PACKAGE = Path(limits.__file__).parent
SOURCE = Path(limits.__file__).read_text(encoding="utf-8")
# units, states, exit codes, versions, and what a run varies
NO_LIMITS = {"MICROSECOND", "LEFT", "CLEAN", "INTERRUPTED", "NEWEST", "TAB", "BATCHES", "_SLOTS"}
NO_LIMITS |= {"PR_SET_PDEATHSIG", "UNWRITTEN"}
NAMES = [node.targets[0].id for node in ast.parse(SOURCE).body if isinstance(node, ast.Assign)]


def test_each_limit_has_a_reason_above_it():
    lines = SOURCE.splitlines()
    for number, line in enumerate(lines):
        if line.split(" ")[0] in NAMES:
            above = next(x for x in reversed(lines[:number]) if x.split(" ")[0] not in NAMES)
            assert above.startswith("# ") and not above.startswith("# ----"), line


def test_no_limit_stands_elsewhere():
    """No number at module level, but for those that name a unit, a state or an exit code. Those of
    the tables' builder are no part of the product."""
    found = [
        f"{path.relative_to(PACKAGE)}: {ast.unparse(node)}"
        for path in PACKAGE.rglob("*.py")
        if path != Path(limits.__file__) and "build" not in path.parts
        for node in ast.parse(path.read_bytes()).body
        if isinstance(node, ast.Assign) and not names_of(node) & NO_LIMITS
        if any(is_number(part) for part in parts(node.value))
    ]
    assert found == []


def names_of(node):
    return {part.id for target in node.targets for part in ast.walk(target) if hasattr(part, "id")}


def parts(node):
    return node.elts if isinstance(node, ast.Tuple) else [node]


def is_number(node):
    """True for a number, and for an expression of nothing but numbers."""
    leaves = [n for n in ast.walk(node) if isinstance(n, ast.expr) and not is_operation(n)]
    return all(isinstance(n, ast.Constant) and type(n.value) in (int, float) for n in leaves)


def is_operation(node):
    return isinstance(node, ast.BinOp | ast.UnaryOp)


def test_each_limit_is_used():
    used = "\n".join(
        path.read_text(encoding="utf-8")
        for path in PACKAGE.rglob("*.py")
        if path != Path(limits.__file__)
    )
    assert [name for name in NAMES if f"limits.{name}" not in used] == []
