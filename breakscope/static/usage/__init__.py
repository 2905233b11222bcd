"""How a whole file uses torch.compile: what it wraps, and what it does with the result."""

from __future__ import annotations

import re
from itertools import chain

# A file without one of these words neither compiles nor scripts anything, and is not followed.
# Plain searches come first, and expressions begin with one: with alternatives they take as long as
# parsing does.
WORDS = (".compile", "suppress_errors", "assume_constant_result")
NAMED = r"torch\s*\.\s*compile\b"
CALLS = r"\.compile\((?<!\bre\.compile\()(?<!regex\.compile\()"
IMPORTED = r"from torch import[^\n]*\bcompile\b"


def mentions(source: str) -> bool:
    """True when a look at the text shows that the file may use torch.compile."""
    if "torch" not in source:
        return False
    if any(word in source for word in WORDS[1:]):
        return True
    places = (
        chain(re.finditer(CALLS, source), re.finditer(NAMED, source)) if WORDS[0] in source else ()
    )
    if any(_is_code(found, source) for found in places):
        return True
    return "from torch import" in source and re.search(IMPORTED, source) is not None


def _is_code(found: re.Match, source: str) -> bool:
    """False on a line that is a comment: most files that name torch.compile only speak of it."""
    return (
        not source[source.rfind("\n", 0, found.start()) + 1 : found.start()]
        .lstrip()
        .startswith("#")
    )
