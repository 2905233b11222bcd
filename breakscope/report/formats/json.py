"""The report itself; its schema is published beside the model as schema.json."""

from __future__ import annotations

from breakscope.report.formats import RenderOptions
from breakscope.report.model import Report, to_json


def render(report: Report, options: RenderOptions) -> str:
    return to_json(report).decode("utf-8")
