"""How a whole file uses torch.compile: what it wraps, and what it does with the result."""

from __future__ import annotations

import re

# A file without one of these neither compiles nor scripts anything, and is not followed.
MENTIONS = re.compile(
    r"torch\s*\.\s*compile\b|(?<!\bre)(?<!regex)\.compile\(|suppress_errors|assume_constant_result"
    r"|from torch import[^\n]*\bcompile\b"
)


def mentions(source: str) -> bool:
    """True when a look at the text shows that the file may use torch.compile."""
    return "torch" in source and MENTIONS.search(source) is not None
