"""Tables that are read out of torch's own files."""

from __future__ import annotations

import json
from pathlib import Path

import torch


def registry() -> dict[str, str]:
    """Graph break id -> the break's type, in the words of torch's own registry."""
    path = Path(torch.__file__).parent / "_dynamo" / "graph_break_registry.json"
    return {name: versions[0]["Gb_type"] for name, versions in json.loads(path.read_text()).items()}
