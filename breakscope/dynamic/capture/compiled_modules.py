"""What makes a program compile its module calls."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

from breakscope.dynamic.options import CompileModules

CHILD = Path(__file__).resolve().parents[1] / "child" / "injected" / "outermost.py"
MODULE = "breakscope_outermost"
INJECTED = "injected"  # the folder inside of that of the traces


def environment(folder: Path, wanted: CompileModules) -> dict[str, str]:
    """The variables under which a program and its children compile their module calls; what they
    need is written into `folder`."""
    injected = folder / INJECTED
    described = injected / f"{MODULE}-0.dist-info"
    described.mkdir(parents=True)
    shutil.copyfile(CHILD, injected / f"{MODULE}.py")
    (described / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {MODULE}\nVersion: 0\n")
    (described / "entry_points.txt").write_text(
        f"[torch.backends]\nbreakscope = {MODULE}:install\n"
    )
    settings = {
        "folder": str(folder),
        "depth": wanted.depth,
        "per_module": wanted.per_module,
        "alike": wanted.alike,
        "entries": wanted.entries,
    }
    paths = [str(injected), os.environ.get("PYTHONPATH", "")]
    return {
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "TORCH_DEVICE_BACKEND_AUTOLOAD": "1",
        "BREAKSCOPE_COMPILE": json.dumps(settings),
    }


def remove_injected(folder: Path) -> None:
    """Leave only traces and notes in the folder."""
    shutil.rmtree(folder / INJECTED, ignore_errors=True)
