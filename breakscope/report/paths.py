"""Paths as a report holds them."""

from __future__ import annotations

import os
from pathlib import Path


def shown_path(path: str, folder: Path) -> str:
    """Relative to the working directory where possible, with forward slashes."""
    if not path:
        return ""
    try:
        real, base = os.path.realpath(path), os.path.realpath(folder)
    except ValueError:  # no file can have that name
        return path
    shown = os.path.relpath(real, base) if real.startswith(base.rstrip(os.sep) + os.sep) else path
    return shown.replace(os.sep, "/")
