"""What makes a program compile its module calls."""

from __future__ import annotations

import json
from pathlib import Path

from breakscope.dynamic.capture.injected import inject
from breakscope.dynamic.options import CompileModules

MODULE = "breakscope_outermost"


def environment(folder: Path, wanted: CompileModules) -> dict[str, str]:
    """The variables under which a program and its children compile their module calls; what they
    need is written into `folder`."""
    settings = {
        "folder": str(folder),
        "depth": wanted.depth,
        "per_module": wanted.per_module,
        "alike": wanted.alike,
        "entries": wanted.entries,
    }
    return {
        **inject(folder, MODULE, "outermost.py"),
        "BREAKSCOPE_COMPILE": json.dumps(settings),
    }
