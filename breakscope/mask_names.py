"""Names by which an index is taken for a boolean tensor: `mask`, `pad_masks`, `mask_a`, `mask2`.

Imports nothing, not even `re`: the first look at a few files asks it, too.
"""

from __future__ import annotations

LAST = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")


def names_a_mask(name: str) -> bool:
    """The last word is `mask` or `masks`, with at most one letter or digit behind it or an underscore."""
    stems = [name]
    if name[-1:] in LAST:
        stems.append(name[:-1].removesuffix("_"))
    return any(stem.rpartition("_")[2] in ("mask", "masks") for stem in stems)
