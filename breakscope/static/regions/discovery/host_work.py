"""Work of a program's own that a region comes to: files, the clock, digests, texts and processes."""

from __future__ import annotations

from breakscope import limits
from breakscope.rulekit.events import Call
from breakscope.static.regions.region import Region

# which kind of it the functions of a module are
KINDS = {
    "time": "clock",
    "hashlib": "digests",
    "json": "texts",
    "pickle": "texts",
    "open": "files",
    "pathlib": "files",
    "shutil": "files",
    "tempfile": "files",
    "ctypes": "processes",
    "threading": "processes",
    "subprocess": "processes",
    "socket": "processes",
    "concurrent": "processes",
    "multiprocessing": "processes",
}


def is_host_program(region: Region) -> bool:
    """True for what plans, measures and records its own run by work of many kinds: a program compiles the parts of it
    that compute, and not what goes around them."""
    kinds = set()
    for activation in region.activations():
        for step in activation.steps:
            if type(step.event) is Call:
                kinds.add(KINDS.get(step.event.name.partition(".")[0]))
    return len(kinds - {None}) > limits.MOST_KINDS_OF_HOST_WORK
