"""The fixes of one file, put into its text together.

What is written has to be what was meant: the patched file's tree is the file's tree with the
statements of the fixes in their places, no comment is lost but those that are to go, and no line
outside of these statements and the imports is another.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from difflib import SequenceMatcher

from msgspec import Struct

from breakscope.fixes.imports import Insertion, insertions
from breakscope.fixes.source_file import (
    NotEncodable,
    Piece,
    SourceFile,
    comments_in,
    end_of,
    statements_of,
)
from breakscope.report.model import Edit, Finding, Fix
from breakscope.static.project.source import SourceError, parse, split_lines


class Declined(Exception):
    """A fix that cannot be used; the message goes on from "declined: "."""


class Patched(Struct, frozen=True):
    """A file with some of its fixes. `waiting` overlap with applied ones, and can be tried when the
    file has been analysed again; of `declined` each has its reason."""

    data: bytes
    applied: tuple[Finding, ...] = ()
    waiting: tuple[Finding, ...] = ()
    declined: tuple[tuple[Finding, str], ...] = ()


def patched(path: str, data: bytes, findings: Iterable[Finding]) -> Patched:
    """The file with as many of the findings' fixes as fit beside each other: safe ones first, then
    those of the smaller statements. Raises SourceError for what is no Python source."""
    file = SourceFile.of(path, data)
    taken: list[Edit] = []
    fixes: list[Fix] = []
    applied, waiting, declined = [], [], []
    for finding in sorted(findings, key=_order):
        fix = finding.fix
        edits = edits_of(fix)
        if all(edit in taken for edit in edits):
            applied.append(finding)  # one rewrite fixes several findings
        elif any(edit.overlaps(other) for edit in edits for other in taken):
            waiting.append(finding)
        else:
            try:
                _checked(file, [fix])
            except Declined as problem:
                declined.append((finding, str(problem)))
                continue
            taken += edits
            fixes.append(fix)
            applied.append(finding)
    while fixes:
        try:
            return Patched(_checked(file, fixes), tuple(applied), tuple(waiting), tuple(declined))
        except Declined:  # each alone is sound: the first is taken, the others wait
            fixes = fixes[:1] if len(fixes) > 1 else []
            waiting += [finding for finding in applied if finding.fix not in fixes]
            applied = [finding for finding in applied if finding.fix in fixes]
    return Patched(data, (), tuple(waiting), tuple(declined))


def edits_of(fix: Fix) -> tuple[Edit, ...]:
    """All places of a fix."""
    first = Edit(line=fix.line, end_line=fix.end_line, replacement=fix.replacement)
    return (first, *fix.also)


def _order(finding: Finding) -> tuple:
    fix = finding.fix
    return (fix.safety != "safe", fix.end_line - fix.line, fix.line, finding.column, finding.code)


def _checked(file: SourceFile, fixes: list[Fix]) -> bytes:
    """The file's bytes with these fixes; raises Declined."""
    edits = sorted((edit for fix in fixes for edit in edits_of(fix)), key=lambda edit: edit.line)
    of_comments = {edit for fix in fixes if fix.drops for edit in edits_of(fix)}
    added = insertions(file, [text for fix in fixes for text in fix.imports])
    if any(not 1 <= edit.line <= edit.end_line <= len(file.lines) for edit in edits):
        raise Declined("the file has changed")
    if any(file.is_masked(edit.line, edit.end_line) for edit in edits):
        raise Declined("a magic stands in its statement")
    pieces: list[Piece] = []
    last = 1
    steps: list[Edit | Insertion] = sorted([*edits, *added], key=_line_of)
    for step in steps:
        pieces += map(file.piece, range(last, step.line))
        if isinstance(step, Insertion):
            if pieces and not end_of(pieces[-1].text):  # the file's last line has no end
                pieces[-1] = Piece(pieces[-1].text + file.newline, pieces[-1].beside)
            pieces.append(Piece(step.text, step.beside))
            last = step.line
        else:
            of_comment = step in of_comments
            lines = comment_lines(file, step) if of_comment else replacement_lines(file, step)
            pieces += [Piece(line, step.line) for line in lines]
            last = step.end_line + 1
    pieces += map(file.piece, range(last, len(file.lines) + 1))
    edits = [edit for edit in edits if edit not in of_comments]
    _refuse_other_tree(file, "".join(piece.text for piece in pieces), edits, added)
    try:
        return file.with_pieces(pieces)
    except NotEncodable:
        raise Declined(f"the file's encoding, {file.encoding}, cannot write it") from None


def _line_of(step: Edit | Insertion) -> tuple[int, int]:
    return step.line, isinstance(step, Edit)


def replacement_lines(file: SourceFile, edit: Edit) -> list[str]:
    """The new lines of an edit: those that are as before stay as they are to the byte, new ones end
    as the old ones do. Raises Declined when a comment is lost."""
    old = list(file.lines[edit.line - 1 : edit.end_line])
    new = split_lines(edit.replacement)
    try:
        missing = comments_in("".join(old)) - comments_in(edit.replacement)
    except SourceError:
        raise Declined("its statement cannot be read by itself") from None
    if missing:
        raise Declined(f"the comment `{next(iter(missing))}` would be lost")
    newline = next(filter(None, map(end_of, old)), file.newline)
    bare = [line.rstrip("\r\n") for line in old], [line.rstrip("\r\n") for line in new]
    lines: list[str] = []
    for kind, start, end, first, last in SequenceMatcher(None, *bare, False).get_opcodes():
        if kind == "equal":
            lines += old[start:end]
        else:
            lines += [line + newline for line in bare[1][first:last]]
    for index, line in enumerate(lines[:-1]):
        if not end_of(line):
            lines[index] = line + newline
    if not end_of(old[-1]) and lines:
        lines[-1] = lines[-1].rstrip("\r\n")
    return lines


def comment_lines(file: SourceFile, edit: Edit) -> list[str]:
    """The line of an edit that takes a comment away; none where nothing else stands there. Raises
    Declined for any other change."""
    old, new = file.lines[edit.line - 1], edit.replacement.rstrip("\r\n")
    kept = iter(old)
    if not all(character in kept for character in new.rstrip()):
        raise Declined("the file has changed")
    return [new + end_of(old)] if new else []


def _refuse_other_tree(
    file: SourceFile, text: str, edits: list[Edit], added: list[Insertion]
) -> None:
    """Raise Declined unless a text is the file with these statements in their places."""
    try:
        wanted = _expected(file, edits, added)
        found = parse(text, file.path)
        if ast.dump(found) != ast.dump(wanted):
            raise Declined("the file would not read as it is meant to")
        _compile(file, found)
    except (SourceError, RecursionError, MemoryError, ValueError):
        raise Declined("the file could not be parsed any more") from None


def _compile(file: SourceFile, tree: ast.Module) -> None:
    """Raise Declined for what the compiler refuses and the parser does not, such as `break` outside
    of a loop, where the file itself is compiled."""
    try:
        compile(tree, file.path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as problem:
        try:
            compile(file.tree, file.path, "exec", dont_inherit=True)
        except (SyntaxError, ValueError):
            return
        raise Declined(f"the file could not be compiled any more: {problem}") from None


def _expected(file: SourceFile, edits: list[Edit], added: list[Insertion]) -> ast.Module:
    """The file's tree with the statements of the edits, and the imports, in their places."""
    tree = parse("".join(file.lines), file.path)
    for insertion in reversed(added):
        tree.body[insertion.index : insertion.index] = _unplaced(ast.parse(insertion.text).body)
    for edit in edits:
        _replace_in(tree, edit)
    return tree


def _replace_in(tree: ast.Module, edit: Edit) -> None:
    for body in bodies_of(tree):
        inside = [
            index
            for index, statement in enumerate(body)
            if isinstance(statement, ast.stmt)
            and hasattr(statement, "lineno")
            and edit.line <= first_line(statement)
            and statement.end_lineno <= edit.end_line
        ]
        if inside and first_line(body[inside[0]]) == edit.line:
            body[inside[0] : inside[-1] + 1] = _unplaced(statements_of(edit.replacement))
            return
    raise Declined("its statement is not where it was")


def _unplaced(statements: list[ast.stmt]) -> list[ast.stmt]:
    """Without line numbers: they are those of the replacement's own lines."""
    for statement in statements:
        del statement.lineno
    return statements


def bodies_of(tree: ast.AST) -> Iterable[list]:
    """All lists of statements, outermost first; not those inside of new statements."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, ast.stmt) and not hasattr(node, "lineno"):
            continue
        for name in ("body", "orelse", "finalbody", "handlers", "cases"):
            found = getattr(node, name, None)
            if isinstance(found, list):
                yield found
                waiting += [child for child in found if isinstance(child, ast.AST)]


def first_line(statement: ast.stmt) -> int:
    """Where a statement begins, its decorators included."""
    decorators = getattr(statement, "decorator_list", None) or ()
    return min([statement.lineno, *(decorator.lineno for decorator in decorators)])
