"""Settings that a program is run with once more, in all its processes and threads."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from breakscope.dynamic.capture.injected import inject
from breakscope.dynamic.options import Setting

MODULE = "breakscope_settings"
PROBLEM = "settings-problem.txt"


def environment(folder: Path, settings: Sequence[Setting]) -> dict[str, str]:
    """The variables under which a program has these settings."""
    wanted = {"settings": [asdict(s) for s in settings], "problem": str(folder / PROBLEM)}
    return {
        **inject(folder, MODULE, "settings.py"),
        "BREAKSCOPE_SETTINGS": json.dumps(wanted),
    }


def problem(folder: Path) -> str:
    """Why a setting could not be made; "" where all were."""
    file = folder / PROBLEM
    return file.read_text(encoding="utf-8") if file.exists() else ""
