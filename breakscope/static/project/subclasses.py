"""The files beside one that derive classes from its own, found by a look at their lines."""

from __future__ import annotations

import os

from breakscope import limits
from breakscope.static.project.reads import Reads


def files_with_subclasses(path: str, reads: Reads) -> list[str]:
    """The files beside one (absolute path) that derive classes from its own, or from those of such
    files."""
    folder = os.path.dirname(path)
    names = [name for name in sorted(reads.names(folder)) if name.endswith(".py")]
    if len(names) > limits.MOST_FILES_BESIDE:
        return []
    beside = [os.path.join(folder, name) for name in names]
    waiting, found = [path], {}
    while waiting:
        base = waiting.pop()
        stem, defined = os.fsencode(os.path.basename(base)[:-3]), reads.classes(base).defined
        for other in beside:
            if other == path or other in found:
                continue
            classes = reads.classes(other)
            if stem in classes.imported and not defined.isdisjoint(classes.bases):
                found[other] = None
                waiting.append(other)
    return sorted(found)
