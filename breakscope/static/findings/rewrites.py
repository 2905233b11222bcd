"""A rule's rewrite, applied to the lines of statements.

All of a file's statements that a fix changes are rewritten here, or none of them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from functools import partial

import libcst as cst
from libcst import ParserSyntaxError
from msgspec import Struct

from breakscope.report.model import Edit
from breakscope.rulekit.patch import Declined, Names, Patch, Place, place_of
from breakscope.rulekit.rule import Rule
from breakscope.rulekit.switches import switching_on
from breakscope.static.project.spans import start_of


class Rewritten(Struct, frozen=True):
    """What a rewrite made of the statement at a finding (`edits[0]`), and of others; nothing and the
    reason where the rule declines."""

    edits: tuple[Edit, ...] = ()
    declined: str = ""
    imports: tuple[str, ...] = ()
    changes: str = ""
    safety: str = ""


UNCOVERED = "its rewrite does not cover a statement of this shape"


def rewritten(
    rule: Rule,
    problem,
    tree: ast.Module,
    statement: ast.stmt,
    lines: list[str],
    unit: str,
    names: Names,
) -> Rewritten:
    """The rule's fix for a problem. It declines when one of its places does.

    `names` are those of the file's functions, which all of its fixes share; `unit` is one level of the
    file's indentation, for a block that the rewrite adds.
    """
    made = Rewritten(declined=UNCOVERED)
    if rule.rewriter is not None and problem.fixable:
        make = partial(_made, rule, problem, place_of(tree, statement, names))
        made = _everywhere(make, statement, lines, unit)
    if made.edits or not problem.setting:
        return made
    place = place_of(tree, statement, names)
    switched = _everywhere(lambda node: switching_on(problem, place), statement, lines, unit)
    return switched if switched.edits else made


def _everywhere(make: Callable, statement: ast.stmt, lines: list[str], unit: str) -> Rewritten:
    """What `make(libcst node)` changes, in the statement and in others; nothing where one declines."""
    reason, patch = UNCOVERED, Patch(None)

    def rewrite(node: cst.CSTNode):
        nonlocal patch
        made = node_or_reason(make(node))
        patch = made if isinstance(made, Patch) else Patch(made)
        return node_or_reason(patch.node)

    def node_or_reason(made):
        nonlocal reason
        if isinstance(made, Declined):
            reason = made.reason
            return None
        return made

    edits: list[Edit] = []
    first = _edit(statement, lines, rewrite, unit)
    if first is not None:
        edits.append(first)
    for also in patch.also if first is not None or patch.node is None else ():
        again = also.rewrite
        edit = _edit(also.statement, lines, lambda node, of=again: node_or_reason(of(node)), unit)
        if edit is None or any(edit.overlaps(other) for other in edits):
            return Rewritten(declined=reason)
        edits.append(edit)
    if not edits:
        return Rewritten(declined=reason)
    return Rewritten(tuple(edits), "", patch.imports, patch.changes, patch.safety)


def _made(rule: Rule, problem, place: Place, node: cst.CSTNode):
    return rule.rewriter(node, problem, *([place] if rule.wants_place else []))


def _edit(statement: ast.stmt, lines: list[str], rewrite: Callable, unit: str) -> Edit | None:
    first = start_of(statement, lines)[0]
    text = rewrite_statement(lines[first - 1 : statement.end_lineno], rewrite, unit)
    if text is None:
        return None
    return Edit(line=first, end_line=statement.end_lineno, replacement=text)


def rewrite_statement(lines: list[str], rewrite, unit: str = "    ") -> str | None:
    """The lines after `rewrite(node)` changed their one statement; None when it declines or the
    result is not sound.

    `unit` is one level of the file's indentation, for a block that the rewrite adds.
    """
    newline = "\r\n" if lines[0].endswith("\r\n") else "\n"
    text = "".join(lines).replace("\r\n", "\n")
    if not text.endswith("\n"):
        text += "\n"
    indented = text[:1] in (" ", "\t")
    try:
        module = cst.parse_module(f"if 1:\n{text}" if indented else text)
    except (ParserSyntaxError, RecursionError):
        return None
    block = module.body[0].body if indented else module
    if len(block.body) != 1 or "\f" in text:
        return None
    made = rewrite(block.body[0])
    if made is None:
        return None
    nodes = list(made.nodes) if isinstance(made, cst.FlattenSentinel) else [made]
    if not nodes:
        return ""  # the statement goes
    if indented:
        outer = block.with_changes(body=nodes, indent=re.match(r"[ \t]*", text)[0])
        changed = module.with_changes(
            body=[module.body[0].with_changes(body=outer)], default_indent=unit
        )
        code = changed.code.partition("\n")[2]
    else:
        code = module.with_changes(body=nodes, default_indent=unit).code
    try:
        cst.parse_module(f"if 1:\n{code}" if indented else code)
    except ParserSyntaxError:
        return None
    return None if code == text else code.replace("\n", newline)
