"""The rewrite that rules about side effects share: skip a line while Dynamo traces.

Imports libcst, so a rule imports this module inside its rewrite function and never at its top.
"""

from __future__ import annotations

import ast
import re

import libcst as cst

from breakscope.rulekit.rewriting import same

# Calls whose effect the program may rely on; a statement with one of these in its arguments is not
# guarded.
EFFECTS = re.compile(
    r"(next|pop|popleft|popitem|append|update|setdefault|read|readline|send|[a-z0-9_]*[a-z0-9]_)\Z"
)


def skip_while_compiling(node: cst.CSTNode, problem) -> cst.If | None:
    """Put `if not torch.compiler.is_compiling():` before a statement that is the flagged call and
    nothing else.

    None when the statement does more than make the call, when its arguments do something that the
    program may rely on, or when it shares its line with others. Comments and layout stay. The file
    must know the name `torch`.
    """
    if (
        not isinstance(node, cst.SimpleStatementLine)
        or len(node.body) != 1
        or not isinstance(node.body[0], cst.Expr)
    ):
        return None
    if not same(node.body[0].value, problem.node) or has_effects(problem.node):
        return None
    return cst.If(
        test=cst.parse_expression("not torch.compiler.is_compiling()"),
        body=cst.IndentedBlock(body=[node.with_changes(leading_lines=())]),
        leading_lines=node.leading_lines,
    )


def has_effects(call: ast.expr) -> bool:
    """True when evaluating the call's arguments may change something: `:=`, await, yield,
    `x.add_(1)`, `next(it)`."""
    for inner in ast.walk(call):
        if isinstance(inner, ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom):
            return True
        if isinstance(inner, ast.Call) and inner is not call:
            name = getattr(inner.func, "attr", None) or getattr(inner.func, "id", "")
            if EFFECTS.match(name):
                return True
    return False
