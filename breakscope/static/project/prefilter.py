"""Which files can hold a region or use torch.compile, decided from their bytes."""

from __future__ import annotations

import re

# the literal comes first: that is searched for like a plain word
FORWARD = rb"forward(?<!\wforward)\b"
# not `re.compile(`, which most files that compile anything have
# a name from before torch.compile, and one that is looked up
COMPILES_OTHERWISE = rb"""dynamo\s*\.\s*optimize|getattr\(\s*torch\s*,\s*["']compile["']"""
COMPILES = rb"compile(?<=\.compile)\((?<![^\w.]re\.compile\()|torch\s*\.\s*compile"
HOOKS = rb"register_(?:module_)?forward_|def \w*hook\w*\("  # that are registered, or look like it
INHERITS = rb"\nclass \w+\("  # or derives a class, whose base may have a forward


def may_matter(data: bytes) -> bool:
    """False when a look at the bytes shows that the file holds no region."""
    return bool(
        (b"forward" in data and re.search(FORWARD, data))
        or (b"compile" in data and re.search(COMPILES, data))
        or (b"torch" in data and re.search(COMPILES_OTHERWISE, data))
        or (b"hook" in data and b"torch" in data and re.search(HOOKS, data))
        or b"suppress_errors" in data
        or b"assume_constant_result" in data
        or (b"torch" in data and (b"def step(" in data or re.search(INHERITS, b"\n" + data)))
    )


def may_start(data: bytes) -> bool:
    """True for a script: what it starts may be compiled in other files."""
    return b"__main__" in data
