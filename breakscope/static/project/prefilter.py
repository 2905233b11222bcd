"""Which files can hold a region or use torch.compile, decided from their bytes."""

from __future__ import annotations

import re

# the literal comes first: that is searched for like a plain word
FORWARD = rb"forward(?<!\wforward)\b"
# not `re.compile(`, which most files that compile anything have
COMPILES = rb"compile(?<=\.compile)\((?<![^\w.]re\.compile\()|torch\s*\.\s*compile"
REGISTERS = rb"register_(?:module_)?forward_"  # hooks
INHERITS = rb"\nclass \w+\("  # or derives a class, whose base may have a forward


def may_matter(data: bytes) -> bool:
    """False when a look at the bytes shows that the file holds no region."""
    return bool(
        (b"forward" in data and re.search(FORWARD, data))
        or (b"compile" in data and re.search(COMPILES, data))
        or (b"_forward_" in data and re.search(REGISTERS, data))
        or b"suppress_errors" in data
        or b"assume_constant_result" in data
        or (b"torch" in data and (b"def step(" in data or re.search(INHERITS, b"\n" + data)))
    )
