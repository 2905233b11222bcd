"""Which findings of two reports are the same problem, by what the code says and not by its line.

A finding is known by its code, its function and its statement without layout and comments. So it
stays the same when lines above it come and go, when its file is renamed, and when its function is.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence

from breakscope.report.fact import Fact
from breakscope.report.model import Finding

NUMBER = re.compile(r"\b\d+\b")
# tokens that are layout, and say nothing of what a statement does
LAYOUT = frozenset(
    (
        tokenize.COMMENT,
        tokenize.NL,
        tokenize.NEWLINE,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.ENDMARKER,
    )
)


class Identity(Fact):
    """What a finding is known by, to be kept in a file. `content` is its source in one line, or its
    message where no source is known; `path` and `line` are where it stood."""

    path: str
    line: int
    code: str
    function: str
    content: str


# from the surest: how two identities can be the same, nothing being the same in two ways
LEVELS: tuple[Callable[[Identity], Hashable], ...] = (
    lambda known: (known.code, known.path, known.function, known.content),
    lambda known: (known.code, known.function, known.content),  # the file was renamed
    lambda known: (known.code, known.path, known.content),  # the function was
)


def identity(finding: Finding) -> Identity:
    """Of a recompile what varies belongs to the content: all of a function's stand at its first
    line."""
    first = finding.line - finding.first_source_line
    last = max(finding.end_line, finding.line) - finding.first_source_line
    lines = finding.source[first : last + 1] if first >= 0 else ()
    content = normalised("\n".join(lines)) or finding.brief or finding.message
    varies = ", ".join(finding.names) if finding.kind == "recompile" else ""
    return Identity(
        path=finding.path,
        line=finding.line,
        code=finding.code,
        function=finding.function,
        content=f"{content} [{NUMBER.sub('#', varies)}]" if varies else content,
    )


def normalised(source: str) -> str:
    """The source in one line, without layout and comments. Of a piece that Python cannot read, such
    as the first line of a statement, the words as they stand."""
    texts: list[str] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(source.strip()).readline):
            if token.type not in LAYOUT:
                texts.append(token.string)
    except (tokenize.TokenError, SyntaxError):
        # what was read until the end of the piece counts, where that is what is missing
        return " ".join(texts) if texts else " ".join(source.split())
    return " ".join(texts)


def same(before: Sequence[Identity], after: Sequence[Identity]) -> list[tuple[int, int]]:
    """Pairs of indices of what is the same problem, one to one: the surest first, of several the
    ones that stand closest."""
    left, right = dict(enumerate(before)), dict(enumerate(after))
    pairs: list[tuple[int, int]] = []
    for level in LEVELS:
        mine, theirs = _by(level, left), _by(level, right)
        for key in mine.keys() & theirs.keys():
            for i, j in _closest(mine[key], theirs[key], before, after):
                pairs.append((i, j))
                del left[i], right[j]
    return sorted(pairs)


def _by(
    level: Callable[[Identity], Hashable], known: dict[int, Identity]
) -> dict[Hashable, list[int]]:
    groups: dict[Hashable, list[int]] = defaultdict(list)
    for index, one in known.items():
        groups[level(one)].append(index)
    return groups


def _closest(
    mine: Iterable[int],
    theirs: Iterable[int],
    before: Sequence[Identity],
    after: Sequence[Identity],
) -> Iterable[tuple[int, int]]:
    """Those at the same line first, and then in the order of lines: a statement that is there twice
    keeps its first and its second."""
    mine, theirs = _by_place(mine, before), _by_place(theirs, after)
    there = {(after[j].path, after[j].line): j for j in reversed(theirs)}
    stayed = []
    for i in mine:
        j = there.pop((before[i].path, before[i].line), None)
        if j is not None:
            stayed.append((i, j))
    kept, taken = {i for i, _ in stayed}, {j for _, j in stayed}
    rest = zip((i for i in mine if i not in kept), (j for j in theirs if j not in taken))
    return [*stayed, *rest]


def _by_place(indices: Iterable[int], known: Sequence[Identity]) -> list[int]:
    return sorted(indices, key=lambda index: (known[index].path, known[index].line))
