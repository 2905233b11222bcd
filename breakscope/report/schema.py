"""Writes the published JSON Schemas, of a report, a benchmark and a difference:  python -m
breakscope.report.schema"""

from __future__ import annotations

import inspect
import json
from pathlib import Path

import msgspec

from breakscope.report.bench import Bench
from breakscope.report.comparing.difference import Difference
from breakscope.report.model import Report

FILE = Path(__file__).with_name("schema.json")
BENCH_FILE = Path(__file__).with_name("bench_schema.json")
DIFFERENCE_FILE = Path(__file__).with_name("difference_schema.json")


def text() -> str:
    """The schema of a report as its file should hold it."""
    return _published("breakscope report", Report)


def bench_text() -> str:
    """The schema of a benchmark as its file should hold it."""
    return _published("breakscope bench", Bench)


def difference_text() -> str:
    """The schema of a difference as its file should hold it."""
    return _published("breakscope diff", Difference)


def _published(title: str, kind: type[msgspec.Struct]) -> str:
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title}
    return json.dumps({**head, **_clean(msgspec.json.schema(kind))}, indent=2) + "\n"


def _clean(part):
    """Descriptions without the indentation of docstrings, which Python keeps before 3.13."""
    if isinstance(part, dict):
        return {
            k: inspect.cleandoc(v) if k == "description" and isinstance(v, str) else _clean(v)
            for k, v in part.items()
        }
    return [_clean(p) for p in part] if isinstance(part, list) else part


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
    BENCH_FILE.write_text(bench_text(), encoding="utf-8")
    DIFFERENCE_FILE.write_text(difference_text(), encoding="utf-8")
