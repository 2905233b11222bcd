"""libcst on slices: a few of the file's lines, parsed alone."""

from __future__ import annotations

import re
from functools import lru_cache

import libcst as cst
from libcst import CSTNode, ParserSyntaxError

from breakscope import limits

EMPTY = cst.Module([])
FIELDS = "__dataclass_fields__"


class Slice:
    """The libcst tree of one statement; answers which texts its expressions have."""

    def __init__(self, tree: CSTNode) -> None:
        self.by_type: dict[type, list[CSTNode]] = {}
        self.texts: dict[type, set[str]] = {}  # of the nodes of a type, once one was asked for
        stack: list[CSTNode] = [tree]
        while stack:
            node = stack.pop()
            self.by_type.setdefault(type(node), []).append(node)
            stack.extend(_children(node))

    def holds(self, text: str) -> bool:
        """True when one of the statement's expressions has this source text, its own parentheses
        and white space aside."""
        try:
            kind = type(cst.parse_expression(f"({text}\n)"))
        except (ParserSyntaxError, RecursionError):
            return False
        wanted = squeezed(text)
        without = (
            wanted[1:-1] if wanted.startswith("(") else wanted
        )  # ast counts the parentheses of tuples and generators
        texts = self.texts.get(kind)
        if texts is None:
            nodes = self.by_type.get(kind, ())
            texts = {squeezed(EMPTY.code_for_node(_bare(node))) for node in nodes}
            self.texts[kind] = texts
        return wanted in texts or without in texts


def _children(node: CSTNode) -> list[CSTNode]:
    """`node.children`, in no order: that visits the node with a visitor, and takes most of the time
    of a slice. What is a node is seen by its fields: to test for an abstract class like CSTNode is a call
    of Python."""
    found = []
    for name in node.__dataclass_fields__:
        value = getattr(node, name)
        if hasattr(value, FIELDS):
            found.append(value)
        elif type(value) is tuple or type(value) is list:
            found.extend([part for part in value if hasattr(part, FIELDS)])
    return found


def squeezed(text: str) -> str:
    """A text without white space: a node of an indented block knows its continuation lines without
    the indentation."""
    return "".join(text.split())


def _bare(node: CSTNode) -> CSTNode:
    """The expression without its own parentheses, where it can do without: `()` cannot."""
    if not getattr(node, "lpar", ()):
        return node
    try:
        return node.with_changes(lpar=[], rpar=[])
    except cst.CSTValidationError:
        return node


@lru_cache(limits.MOST_SLICE_ANSWERS)
def is_found(text: str, is_header: bool, wanted: str | None) -> bool:
    """True when the statement holds an expression with the text `wanted` (None: any will do), and
    when libcst does not know its syntax."""
    tree = parse_slice(text, is_header)
    return tree is None or wanted is None or tree.holds(wanted)


@lru_cache(8)
def parse_slice(text: str, is_header: bool) -> Slice | None:
    """The tree of a simple statement's text, or of a compound one's text up to where its body
    begins."""
    try:
        return Slice(cst.parse_module(completed(text, is_header)))
    except (ParserSyntaxError, RecursionError):
        return None


def completed(text: str, is_header: bool) -> str:
    """A statement's own text, from its first character on, as a module: a header gets `pass` for a
    body, and a clause the statement that it belongs to."""
    text = text.replace("\r\n", "\n")
    if not is_header:
        return f"{text}\n"
    word = re.match(r"\w*", text)[0]
    if word == "elif":
        return f"{text[2:]}pass\n"
    if word == "except":
        return f"try:\n pass\n{text}pass\n"
    if word == "try":
        return f"{text}pass\nfinally:\n pass\n"
    if word == "case":
        return f"match 0:\n {text}pass\n"
    if word == "match":
        return f"{text}case _: pass\n"
    return f"{text}pass\n"
