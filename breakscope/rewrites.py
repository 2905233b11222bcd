"""Rewrites that several rules share. libcst is imported inside the functions: a clean file never needs it."""

from __future__ import annotations

import ast
import re

# Calls whose effect the program may rely on; a statement with one of these in its arguments is not guarded.
EFFECTS = re.compile(r"(next|pop|popleft|popitem|append|update|setdefault|read|readline|send|[a-z0-9_]*[a-z0-9]_)\Z")


def skip_while_compiling(node, problem):
    """Put `if not torch.compiler.is_compiling():` before a statement that is the flagged call and nothing else.

    `node` is a libcst statement. Returns a `libcst.If`, or None when the statement does more than make the call, when
    its arguments do something that the program may rely on, or when there is no line of its own to guard.
    Comments and layout stay.
    """
    import libcst as cst

    if not isinstance(node, cst.SimpleStatementLine) or len(node.body) != 1 or not isinstance(node.body[0], cst.Expr):
        return None
    try:
        written = ast.parse(cst.Module([]).code_for_node(node.body[0].value).strip(), mode="eval").body
    except SyntaxError:
        return None
    if ast.dump(written) != ast.dump(problem.node) or has_effects(written):
        return None
    return cst.If(
        test=cst.parse_expression("not torch.compiler.is_compiling()"),
        body=cst.IndentedBlock(body=[node.with_changes(leading_lines=())]),
        leading_lines=node.leading_lines,
    )


def has_effects(call: ast.Call) -> bool:
    """True when evaluating the call's arguments may change something: `:=`, await, yield, `x.add_(1)`, `next(it)`."""
    for argument in (*call.args, *(keyword.value for keyword in call.keywords)):
        for inner in ast.walk(argument):
            if isinstance(inner, ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom):
                return True
            if isinstance(inner, ast.Call):
                name = getattr(inner.func, "attr", None) or getattr(inner.func, "id", "")
                if EFFECTS.match(name):
                    return True
    return False
