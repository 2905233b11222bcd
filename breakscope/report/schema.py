"""Writes the published JSON Schema of a report:  python -m breakscope.report.schema"""

from __future__ import annotations

import json
from pathlib import Path

from breakscope.report.model import json_schema

FILE = Path(__file__).with_name("schema.json")


def text() -> str:
    """The schema as the file should hold it."""
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "breakscope report"}
    return json.dumps({**head, **json_schema()}, indent=2) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
