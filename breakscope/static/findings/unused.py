"""Comments that silence nothing (BRK001), as findings with the fix that removes them."""

from __future__ import annotations

import ast
import io
import re
from collections.abc import Collection, Iterable, Iterator

from msgspec import Struct

from breakscope.report.model import Confidence, Finding, Fix
from breakscope.rulekit.rule import Rule
from breakscope.static.findings.suppress import Mark, Suppressions
from breakscope.static.project.files import relative_path
from breakscope.static.project.modules import ModuleInfo
from breakscope.static.project.source import shortened

CODE = "BRK001"
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
MENTIONED = rb"breakscope:\s*ignore|noqa:[^\n]*BRK"
REMOVE = "remove the comment, or what of it is unused: `breakscope fix` does"
MOVE = "a comment silences the statement on whose lines it stands: move it there, or remove it"


class Judged(Struct, frozen=True):
    """What is known of the codes: the `rule` of unused comments, all `known` codes, and those that
    source analysis `looks_for` under the target version of torch."""

    rule: Rule
    known: frozenset[str]
    looks_for: frozenset[str]

    @classmethod
    def of(cls, rules: Iterable[Rule], looks_for: frozenset[str]) -> Judged:
        by_code = {rule.code: rule for rule in rules}
        return cls(by_code[CODE], frozenset(by_code), looks_for)

    def judges(self, mark: Mark) -> bool:
        """False for what others may use: other linters, a run, breakscope itself."""
        if mark.is_noqa and not mark.code.startswith("BRK"):
            return False
        if mark.code and CODE.startswith(mark.code):
            return False
        return not self.knows(mark) or any(c.startswith(mark.code) for c in self.looks_for)

    def knows(self, mark: Mark) -> bool:
        return any(code.startswith(mark.code) for code in self.known)


def has_marks(module: ModuleInfo) -> bool:
    """True for source of the user's that may have comments to judge."""
    if module.marked is None:
        text = module.text
        is_mentioned = not module.library and (b"BRK" in text or b"breakscope" in text)
        module.marked = is_mentioned and re.search(MENTIONED, text, re.IGNORECASE) is not None
    return module.marked


def place_of(path: str, mark: Mark) -> tuple[str | int, ...]:
    """What one unused code stands for, as a `Place` of an answer."""
    return (path, mark.line, mark.column, mark.line, mark.end_column, "suppression")


def unused(
    module: ModuleInfo,
    suppressions: Suppressions,
    used: Collection[Mark],
    entered: Collection[str],
    is_checked: bool,
    judged: Judged,
) -> Iterator[tuple[tuple[str | int, ...], Finding]]:
    """The codes that silenced nothing. `entered` are the functions of the file that compiled code
    leads to; of a file that is not itself checked only their comments are judged."""
    marks = [m for m in suppressions.marks if m not in used and judged.judges(m)]
    comments = _comments(module) if marks else {}
    for mark in marks:
        is_comment = mark.line in comments and comments[mark.line] <= mark.column
        if not is_comment or _is_kept(suppressions, mark):
            continue
        function = "" if mark.whole_file else _function_at(module.tree, mark.line)
        is_reached = not function or function in entered
        if not is_checked and (not function or not is_reached):
            continue
        sure = is_reached or not judged.knows(mark)
        yield (
            place_of(module.path, mark),
            _finding(
                module, suppressions, mark, function, "likely" if sure else "possible", judged
            ),
        )


def _finding(
    module: ModuleInfo,
    suppressions: Suppressions,
    mark: Mark,
    function: str,
    confidence: Confidence,
    judged: Judged,
) -> Finding:
    lines, rule = module.source_lines(), judged.rule
    line, comment = lines[mark.line - 1], suppressions.comment_around(mark)
    left = suppressions.line_without(mark)
    is_alone = line.lstrip().startswith("#") and not mark.whole_file
    return Finding(
        path=relative_path(module.path),
        line=mark.line,
        column=mark.column + 1,
        end_line=mark.line,
        end_column=mark.end_column + 1,
        code=rule.code,
        rule=rule.name,
        kind=rule.kind,
        severity=rule.severity,
        confidence=confidence,
        evidence="predicted",
        function=function,
        message=_message(mark, comment, confidence, judged),
        names=(mark.code or comment,),
        help=MOVE if is_alone else REMOVE,
        fix=Fix(
            safety="safe",
            description=REMOVE,
            line=mark.line,
            end_line=mark.line,
            replacement=f"{left}\n" if left else "",
            drops=comment,
        ),
        first_source_line=mark.line,
        source=(shortened(line.rstrip("\r\n")),),
    )


def _message(mark: Mark, comment: str, confidence: Confidence, judged: Judged) -> str:
    what = mark.code or comment
    if not judged.knows(mark):
        return f"`{what}` is no code of a rule, so nothing is silenced by it"
    if confidence == "possible":
        return f"no compiled code leads to this function, so nothing is silenced by `{what}`"
    return f"nothing {'in this file' if mark.whole_file else 'here'} is silenced by `{what}`"


def _is_kept(suppressions: Suppressions, mark: Mark) -> bool:
    """True where a comment names the code of unused ones."""
    return any(m.code and m != mark for m in suppressions.silencers(CODE, mark.line, mark.line))


def _comments(module: ModuleInfo) -> dict[int, int]:
    """Where comments begin, by line, as Python reads the file; nowhere when it cannot."""
    import tokenize  # few files have comments for us

    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(module.source, newline="").readline))
    except (tokenize.TokenError, SyntaxError):
        return {}
    return dict(token.start for token in tokens if token.type == tokenize.COMMENT)


def _function_at(tree: ast.Module, line: int) -> str:
    """The qualified name of the innermost function around a line, as findings have it; "" outside
    of all."""
    around = [
        node
        for node in ast.walk(tree)
        if isinstance(node, SCOPES) and node.lineno <= line <= node.end_lineno
    ]
    while around and isinstance(around[-1], ast.ClassDef):
        around.pop()
    return ".".join(node.name for node in around)
