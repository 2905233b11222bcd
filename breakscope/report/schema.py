"""Writes the published JSON Schema of a report:  python -m breakscope.report.schema"""

from __future__ import annotations

import inspect
import json
from pathlib import Path

from breakscope.report.model import json_schema

FILE = Path(__file__).with_name("schema.json")


def text() -> str:
    """The schema as the file should hold it."""
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "breakscope report"}
    return json.dumps({**head, **_clean(json_schema())}, indent=2) + "\n"


def _clean(part):
    """Descriptions without the indentation of docstrings, which Python keeps before 3.13."""
    if isinstance(part, dict):
        return {k: inspect.cleandoc(v) if k == "description" and isinstance(v, str) else _clean(v) for k, v in part.items()}
    return [_clean(p) for p in part] if isinstance(part, list) else part


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
