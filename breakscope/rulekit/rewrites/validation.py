"""The rewrite of `if bad(x): raise ValueError(...)`: an assert that stays in the graph, with the words of
the message.

Imports libcst, so a rule imports this module inside its rewrite function and never at its top.
"""

from __future__ import annotations

import ast
import re

import libcst as cst

from breakscope.rulekit import rewriting as rw
from breakscope.rulekit.patch import Patch

CHANGES = (
    "the exception is an AssertionError (compiled a RuntimeError, on CUDA after the fact), `python -O` drops the"
    " check{}"
)
NAMED = ", and the message names `{}` in the place of the value"
PERCENT = re.compile(r"%(?:[-#0 +]*(?:\d+)?(?:\.\d+)?[diouxXeEfFgGcrsa]|%)")
# what Python knows of a tensor while it traces
KNOWN = re.compile(
    r"(?:tuple|list|len)?\(?[A-Za-z_][\w.]*\.(?:shape(?:\[-?\d+\])?|dtype|device|ndim)\)?"
)


def as_assert(node: cst.If, problem):
    """What takes the place of a check whose block only raises; None for other statements."""
    if node.orelse or not isinstance(node.body, cst.IndentedBlock) or "#" in rw.code(node.test):
        return None
    raised = _raised(node.body)
    if raised is None:
        return None
    message, values = raised
    tests = _wanted(node.test, problem)
    if tests is None:
        return None
    flags, wanted = tests
    if message and "\n" in rw.code(node.body.body[-1].body[0]):  # it has a line of its own
        message = f"(\n    {message}\n)"
    lines = [_source(test, message) for test in wanted]
    comments = [line for part in node.body.body for line in part.leading_lines]
    above = (*node.leading_lines, *(c for c in comments if c.comment))
    header = node.body.header
    made = [cst.parse_statement(text) for text in lines]
    if flags is None:
        made[0] = made[0].with_changes(leading_lines=above, trailing_whitespace=header)
        changed = made[0] if len(made) == 1 else cst.FlattenSentinel(made)
    else:
        block = node.body.with_changes(body=made, footer=())
        changed = node.with_changes(test=flags, body=block, leading_lines=above)
    named = NAMED.format("`, `".join(dict.fromkeys(values))) if values else ""
    return Patch(changed, changes=CHANGES.format(named))


def _source(test: str, message: str) -> str:
    if message.lstrip("( \n").startswith("f"):  # Dynamo takes no such message of an `assert`
        return f"torch._assert_async({test}, {message})"
    return f"assert {test}, {message}" if message else f"assert {test}"


def _raised(body: cst.IndentedBlock) -> tuple[str, list[str]] | None:
    """The message of a block that ends in `raise Error(message)` and only prepares it before: its
    source, "" for none, and the expressions whose values it no longer shows."""
    if body.footer or any("#" in rw.code(n.with_changes(leading_lines=())) for n in body.body):
        return None
    lines = body.body
    if not all(rw.single(n) is not None for n in lines):
        return None
    raised, names = lines[-1].body[0], {}
    for line in lines[:-1]:
        prepared = rw.assignment(line.body[0])
        if prepared is None or prepared[2]:
            return None
        names[prepared[0]] = prepared[1]
    if not isinstance(raised, cst.Raise) or raised.cause or raised.exc is None:
        return None
    if not isinstance(raised.exc, cst.Call):
        return ("", []) if isinstance(raised.exc, cst.Name | cst.Attribute) else None
    if any(a.star or a.keyword for a in raised.exc.args) or len(raised.exc.args) > 1:
        return None
    if not raised.exc.args:
        return "", []
    message = raised.exc.args[0].value
    if isinstance(message, cst.Name):
        message = names.get(message.value, message)
    return message_of(message, names)


def message_of(
    message: cst.BaseExpression, names: dict | None = None, whole: bool = True
) -> tuple[str, list[str]] | None:
    """The source of a message that Dynamo takes, and the expressions whose values it no longer shows;
    None where it has no words of its own. Without `whole` it is never an f-string."""
    if isinstance(message, cst.SimpleString):
        return (message.value, []) if message.prefix == "" else None
    if whole and isinstance(message, cst.FormattedString) and not names:
        holes = [p for p in message.parts if isinstance(p, cst.FormattedStringExpression)]
        if all(KNOWN.fullmatch(rw.code(hole.expression)) for hole in holes):
            return rw.code(message), []
    found = _text(message)
    if found is None:
        return None
    text, values = found
    if not re.search(r"\w", "".join(text.split("\0")[::2])):
        return None
    shown = "".join(f"`{p}`" if n % 2 else p for n, p in enumerate(text.split("\0")))
    quoted = repr(shown)
    if '"' not in shown:
        quoted = f'"{quoted[1:-1]}"' if "\\'" not in quoted else f'"{shown}"'
    return quoted, values


def _text(node: cst.BaseExpression) -> tuple[str, list[str]] | None:
    """The words of a message with the source of each value between NULs, and these sources."""
    if isinstance(node, cst.SimpleString):
        value = node.evaluated_value
        return (value, []) if isinstance(value, str) else None
    if isinstance(node, cst.ConcatenatedString):
        return _joined([_text(node.left), _text(node.right)])
    if isinstance(node, cst.FormattedString):
        return _joined([_of_part(part, node.start) for part in node.parts])
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Modulo):
        given = node.right
        values = [e.value for e in given.elements] if isinstance(given, cst.Tuple) else [given]
        return _filled(node.left, PERCENT, values)
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
        given = rw.arguments(node)
        if node.func.attr.value == "format" and given and not given[1]:
            return _filled(node.func.value, re.compile(r"\{[^{}\w]*\}"), given[0])
    return None


def _of_part(part, start: str) -> tuple[str, list[str]] | None:
    if isinstance(part, cst.FormattedStringText):
        try:
            text = ast.literal_eval(f"{start.lower().replace('f', '')}{part.value}{start[-1]}")
        except (SyntaxError, ValueError):
            return None
        return text.replace("{{", "{").replace("}}", "}"), []
    source = rw.code(part.expression)
    return f"\0{source}\0", [source]


def _filled(template, spec: re.Pattern, values: list) -> tuple[str, list[str]] | None:
    found = _text(template)
    if found is None or found[1]:
        return None
    text, sources = found[0].replace("%%", "\1"), [rw.code(value) for value in values]
    if len(spec.findall(text)) != len(sources):
        return None
    waiting = iter(sources)
    return spec.sub(lambda _: f"\0{next(waiting)}\0", text).replace("\1", "%"), sources


def _joined(found: list) -> tuple[str, list[str]] | None:
    if any(part is None for part in found):
        return None
    return "".join(text for text, _ in found), [v for _, values in found for v in values]


def _wanted(
    test: cst.BaseExpression, problem
) -> tuple[cst.BaseExpression | None, list[str]] | None:
    """What has to hold, by the test of a check: the flags that Python decides before it, and each
    condition as source."""
    if isinstance(test, cst.BooleanOperation):
        if isinstance(test.operator, cst.Or):
            sides = _operands(test, cst.Or)
            if not all(_is_tensor(side, problem) for side in sides):
                return None
            if not all(rw.may_always_run(_positive(side)[0]) for side in sides[1:]):
                return None
            wanted = [_holds(side) for side in sides]
            return None if None in wanted else (None, wanted)
        inner = test.right
        if rw.same(test.left, problem.node) or not _is_tensor(inner, problem):
            return None
        wanted = _holds(inner)
        if wanted is None:
            return None
        flags = test.left.with_changes(lpar=[], rpar=[]) if test.lpar else test.left
        return flags, [wanted]
    if not _is_tensor(test, problem):
        return None
    wanted = _holds(test)
    return None if wanted is None else (None, [wanted])


def _operands(test: cst.BaseExpression, operator: type) -> list[cst.BaseExpression]:
    if isinstance(test, cst.BooleanOperation) and isinstance(test.operator, operator):
        return [*_operands(test.left, operator), *_operands(test.right, operator)]
    return [test]


def _positive(test: cst.BaseExpression) -> tuple[cst.BaseExpression, bool]:
    """A test without its `not`, and whether it had one."""
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        return test.expression, True
    return test, False


def _is_tensor(test: cst.BaseExpression, problem) -> bool:
    inner = _positive(test)[0]
    return rw.same(inner, problem.node) or rw.surely_tensor(inner)


def _holds(test: cst.BaseExpression) -> str | None:
    """Source of the opposite of a test."""
    inner, is_negated = _positive(test)
    if isinstance(inner, cst.BooleanOperation):
        return None
    if isinstance(inner, cst.Comparison) and not rw.is_comparison(inner):
        return None
    if is_negated:
        return rw.code(inner)
    opposite = {cst.NotEqual: "==", cst.Equal: "!="}
    sign = type(inner.comparisons[0].operator) if isinstance(inner, cst.Comparison) else None
    if sign in opposite:
        right = inner.comparisons[0].comparator
        return f"{rw.code(inner.left)} {opposite[sign]} {rw.code(right)}"
    return f"torch.logical_not({rw.code(inner.with_changes(lpar=[], rpar=[]))})"
