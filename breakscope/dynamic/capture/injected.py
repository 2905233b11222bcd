"""Modules of ours that torch loads at the end of its import, in a program and all its children."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

FOLDER = "injected"  # inside of that of the traces
SOURCES = Path(__file__).resolve().parents[1] / "child" / "injected"


def inject(folder: Path, module: str, source: str) -> dict[str, str]:
    """Write `source` of child/injected as `module` into the folder of the traces; returns the
    variables under which torch calls its `install`."""
    injected = folder / FOLDER
    described = injected / f"{module}-0.dist-info"
    described.mkdir(parents=True)
    shutil.copyfile(SOURCES / source, injected / f"{module}.py")
    (described / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 0\n")
    (described / "entry_points.txt").write_text(f"[torch.backends]\n{module} = {module}:install\n")
    paths = [str(injected), os.environ.get("PYTHONPATH", "")]
    return {
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "TORCH_DEVICE_BACKEND_AUTOLOAD": "1",
    }


def remove_injected(folder: Path) -> None:
    """Leave only traces and notes in the folder."""
    shutil.rmtree(folder / FOLDER, ignore_errors=True)
