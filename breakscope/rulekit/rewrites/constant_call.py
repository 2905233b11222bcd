"""The rewrite of a call in C whose result depends on its text or numbers alone: Dynamo makes it while it
traces, guards on what it was given, and keeps the result as a constant.

Imports libcst, so a rule imports this module inside its rewrite function and never at its top.
"""

from __future__ import annotations

import ast
import builtins

import libcst as cst

from breakscope.rulekit import rewriting as rw
from breakscope.rulekit.patch import Also, Patch, Place
from breakscope.rulekit.walking import names_in, walk

IMPORTS = (ast.Import, ast.ImportFrom)
BEHIND = frozenset({"hexdigest", "digest", "decode", "hex"})
CHANGES = "`{}` is computed while Dynamo traces, once for each value that it is given"


def as_constant(node: cst.SimpleStatementLine, problem, place: Place) -> Patch | None:
    """`crc32_of(name)` for `zlib.crc32(name.encode())`, and the function at the top of the file; None
    where the call reads what is neither an argument of it nor known to the whole file."""
    found = rw.find(node, problem)
    imports = [n for n in place.tree.body if isinstance(n, IMPORTS)]
    bound = {(a.asname or a.name).partition(".")[0] for n in imports for a in n.names}
    if not isinstance(found, cst.Call) or place.function is None or "torch" not in bound:
        return None
    whole = _with_what_follows(node, found)
    if whole is found and rw.dotted(found.func).startswith("hashlib."):
        return None  # an object, no text
    given = _given(whole, bound)
    if "#" in rw.code(whole) or given is None:
        return None
    names = [text.rpartition(".")[2] for text in given]
    taken = names_in(place.tree)
    taken |= {n.name for n in place.tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef)}
    name = f"{rw.called(found)}_of"
    if not names or len(set(names)) != len(names) or name in taken or set(names) & bound:
        return None
    inner = whole
    for text, short in zip(given, names, strict=True):
        inner = _replaced(inner, text, short)
    function = (
        f"@torch.compiler.assume_constant_result\ndef {name}({', '.join(names)}):\n"
        f"    return {rw.code(inner)}\n"
    )
    made = rw.swap(node, whole, f"{name}({', '.join(given)})")
    if made is None:
        return None
    return Patch(
        made,
        also=(Also(imports[-1], lambda last: _behind(last, function)),),
        changes=CHANGES.format(rw.code(whole)),
        safety="unsafe",
    )


def _with_what_follows(node: cst.CSTNode, found: cst.Call) -> cst.Call:
    """The call with the methods behind it that make text of its result."""
    for part in rw.walk(node):
        if isinstance(part, cst.Call) and isinstance(part.func, cst.Attribute):
            if part.func.value is found and part.func.attr.value in BEHIND:
                return _with_what_follows(node, part)
    return found


def _given(whole: cst.Call, bound: set[str]) -> list[str] | None:
    """The names and attributes that an expression reads besides what the file imports."""
    tree = ast.parse(rw.code(whole), mode="eval").body
    if any(
        isinstance(n, ast.Lambda | ast.ListComp | ast.NamedExpr | ast.Starred) for n in walk(tree)
    ):
        return None
    called = {id(n.func) for n in walk(tree) if isinstance(n, ast.Call)}
    texts: dict[str, None] = {}

    def read(node: ast.AST) -> bool:
        chain = node
        while isinstance(chain, ast.Attribute):
            chain = chain.value
        if isinstance(chain, ast.Name) and isinstance(node, ast.Name | ast.Attribute):
            if chain.id in bound or (chain is node and hasattr(builtins, chain.id)):
                return True
            if id(node) in called:
                return isinstance(node, ast.Attribute) and read(node.value)
            texts[ast.unparse(node)] = None
            return chain is node or chain.id == "self"
        return all(read(child) for child in ast.iter_child_nodes(node))

    return list(texts) if read(tree) else None


def _replaced(node: cst.CSTNode, text: str, name: str) -> cst.CSTNode:
    while text != name:
        old = next((n for n in rw.walk(node) if rw.dotted(n) == text), None)
        if old is None:
            break
        node = node.deep_replace(old, cst.Name(name))
    return node


def _behind(last: cst.CSTNode, function: str):
    added = cst.parse_statement(function)
    blank = cst.EmptyLine(indent=False)
    return cst.FlattenSentinel([last, added.with_changes(leading_lines=[blank, blank])])
