"""Each limit has a reason, is used, and stands in one place."""

import ast
from pathlib import Path

from breakscope import limits

PACKAGE = Path(limits.__file__).parent
SOURCE = Path(limits.__file__).read_text(encoding="utf-8")
NAMES = [node.targets[0].id for node in ast.parse(SOURCE).body if isinstance(node, ast.Assign)]


def test_each_limit_has_a_reason_above_it():
    lines = SOURCE.splitlines()
    for number, line in enumerate(lines):
        if line.split(" ")[0] in NAMES:
            above = next(x for x in reversed(lines[:number]) if x.split(" ")[0] not in NAMES)
            assert above.startswith("# ") and not above.startswith("# ----"), line


def test_each_limit_is_used():
    used = "\n".join(
        path.read_text(encoding="utf-8")
        for path in PACKAGE.rglob("*.py")
        if path != Path(limits.__file__)
    )
    assert [name for name in NAMES if f"limits.{name}" not in used] == []
