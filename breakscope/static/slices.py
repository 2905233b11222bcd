"""libcst on slices: a few of the file's lines, parsed alone."""

from __future__ import annotations

import textwrap

import libcst as cst
from libcst import BaseSuite, CSTNode, ParserSyntaxError

EMPTY = cst.Module([])


class Slice:
    """The libcst tree of one statement; answers which texts its expressions have."""

    def __init__(self, tree: CSTNode) -> None:
        self.by_type: dict[type, list[CSTNode]] = {}
        stack: list[CSTNode] = [tree]
        while stack:
            node = stack.pop()
            self.by_type.setdefault(type(node), []).append(node)
            stack.extend(node.children)

    def holds(self, text: str) -> bool:
        """True when one of the statement's expressions has this source text, its own parentheses and white space aside."""
        try:
            kind = type(cst.parse_expression(f"({text}\n)"))
        except (ParserSyntaxError, RecursionError):
            return False
        wanted = squeezed(text)
        return any(squeezed(EMPTY.code_for_node(_bare(node))) == wanted for node in self.by_type.get(kind, ()))


def squeezed(text: str) -> str:
    """A text without white space: a node of an indented block knows its continuation lines without the indentation."""
    return "".join(text.split())


def _bare(node: CSTNode) -> CSTNode:
    """The expression without its own parentheses, where it can do without: `()` cannot."""
    if not getattr(node, "lpar", ()):
        return node
    try:
        return node.with_changes(lpar=[], rpar=[])
    except cst.CSTValidationError:
        return node


def parse_slice(lines: list[str], compound: bool) -> Slice | None:
    """The tree of a statement's lines; for a compound statement its header with an empty body."""
    text = "".join(lines).replace("\r\n", "\n")
    indented = text[:1] in (" ", "\t")
    if compound:
        stripped = lines[0].lstrip()
        lead = lines[0][:len(lines[0]) - len(stripped)]
        if stripped.startswith(("elif", "else", "except", "finally", "case")):
            text = text.replace("elif", "if", 1)
        text = text.rstrip()
        text = f"{text}\n{lead} pass\n" if text.endswith(":") or ":" in text.rsplit("\n", 1)[-1].partition("#")[0][-1:] or _header_only(
            text) else f"{text}\n"
        if stripped.startswith(("try", "async", "except")):
            text = text if not stripped.startswith("try") else f"{text}{lead}finally:\n{lead} pass\n"
        if stripped.startswith("match "):
            text = f"{text.replace('pass', 'case _:')}{lead}  pass\n"
    for candidate in (f"if 1:\n{text}" if indented else text, f"if 1:\n{textwrap.indent(textwrap.dedent(text), '    ')}"):
        try:
            module = cst.parse_module(candidate)
        except (ParserSyntaxError, RecursionError):
            continue
        body = module.body[0]
        return Slice(body.body if isinstance(getattr(body, "body", None), BaseSuite) and indented else module)
    return None


def _header_only(text: str) -> bool:
    """True when the text ends with a compound statement's colon, maybe before a comment."""
    last = text.rstrip().rsplit("\n", 1)[-1]
    return last.split("#")[0].rstrip().endswith(":")


def rewrite_statement(lines: list[str], rewrite) -> str | None:
    """The lines after `rewrite(node)` changed their one statement; None when it declines or the result is not sound."""
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
    if indented:
        changed = module.with_changes(body=[module.body[0].with_changes(body=block.with_changes(body=nodes))])
        code = changed.code.partition("\n")[2]
    else:
        code = module.with_changes(body=nodes).code
    try:
        cst.parse_module(f"if 1:\n{code}" if indented else code)
    except ParserSyntaxError:
        return None
    return None if code == text else code.replace("\n", newline)
