"""The rewrite that rules about side effects share: skip a line while Dynamo traces.

Imports libcst, so a rule imports this module inside its rewrite function and never at its top.
"""

from __future__ import annotations

import ast
import re

import libcst as cst

from breakscope.rulekit.rewriting import code, dotted, same

# Calls whose effect the program may rely on; a statement with one of these in its arguments is not
# guarded.
EFFECTS = re.compile(
    r"(next|pop|popleft|popitem|append|update|setdefault|read|readline|send|[a-z0-9_]*[a-z0-9]_)\Z"
)

GUARD = "not torch.compiler.is_compiling()"
WRITERS = frozenset(
    {"print", "warnings.warn", "pprint.pprint", "sys.stdout.write", "sys.stderr.write"}
)
_LOGGERS = re.compile(r"(?:.*[._])?(?:log|logger|logging)", re.IGNORECASE).fullmatch
_LEVELS = frozenset(
    "debug info warning warn error exception critical log warning_once info_once debug_once".split()
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
    return guarded(node)


def guarded(node: cst.BaseStatement) -> cst.If:
    """A statement under `if not torch.compiler.is_compiling():`, with the comments above it."""
    return cst.If(
        test=cst.parse_expression(GUARD),
        body=cst.IndentedBlock(body=[node.with_changes(leading_lines=())]),
        leading_lines=node.leading_lines,
    )


def guarded_text(node: cst.If) -> cst.If | None:
    """An `if` that only prints, logs or warns, under the guard; None for others."""
    if node.orelse is not None or has_effects(_tree(node.test)) or not only_writes_text(node.body):
        return None
    return guarded(node.with_changes(body=without_guards(node.body)))


def only_writes_text(block: cst.BaseSuite) -> bool:
    """True when a block only prints, logs or warns, under tests or not."""
    lines = block.body if isinstance(block, cst.IndentedBlock) else ()
    return bool(lines) and all(_writes_text(line) for line in lines)


def _writes_text(line: cst.BaseStatement) -> bool:
    if isinstance(line, cst.If):
        tested = not has_effects(_tree(line.test))
        return line.orelse is None and tested and only_writes_text(line.body)
    if not isinstance(line, cst.SimpleStatementLine):
        return False
    for statement in line.body:
        if not isinstance(statement, cst.Expr) or not isinstance(statement.value, cst.Call):
            return False
        name = dotted(statement.value.func)
        owner, _, method = name.rpartition(".")
        if name not in WRITERS and not (_LOGGERS(owner) and method in _LEVELS):
            return False
        if has_effects(_tree(statement.value)):
            return False
    return True


def without_guards(block: cst.IndentedBlock) -> cst.IndentedBlock:
    """A block without the guards inside it, for a statement that is guarded as a whole."""
    lines: list[cst.BaseStatement] = []
    for line in block.body:
        if isinstance(line, cst.If) and code(line.test) == GUARD and not line.leading_lines:
            lines += without_guards(line.body).body
        else:
            lines.append(line)
    return block.with_changes(body=lines)


_DUMPS = frozenset({"json.dump", "pickle.dump", "torch.save", "numpy.save", "np.save", "yaml.dump"})


def only_writes_to(node: cst.With, problem) -> bool:
    """True for `with open(path, "a") as f:` whose block only writes to `f`."""
    if len(node.items) != 1 or not same(node.items[0].item, problem.node):
        return False
    name, block = node.items[0].asname, node.body
    if name is None or not isinstance(name.name, cst.Name) or has_effects(problem.node):
        return False
    modes = [*problem.node.args[1:2]]
    modes += [k.value for k in problem.node.keywords if k.arg == "mode"]
    texts = [getattr(mode, "value", None) for mode in modes]
    if not any(isinstance(text, str) and text[:1] in ("a", "w", "x") for text in texts):
        return False
    for line in block.body:
        if not isinstance(line, cst.SimpleStatementLine):
            return False
        for statement in line.body:
            call = getattr(statement, "value", None)
            if not isinstance(statement, cst.Expr) or not isinstance(call, cst.Call):
                return False
            called = dotted(call.func)
            to_file = called.startswith(f"{name.name.value}.") or (
                called in _DUMPS or called == "print"
            )
            inner = [a.value for a in call.args]
            if not to_file or any(has_effects(_tree(value)) for value in inner):
                return False
    return True


def _tree(node: cst.BaseExpression) -> ast.expr:
    return ast.parse(f"({code(node)})", mode="eval").body


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
