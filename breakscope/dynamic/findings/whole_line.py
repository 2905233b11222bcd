"""A finding of a run that stands for a whole line, where nothing says which part of it."""

from __future__ import annotations

from typing import Any

from breakscope.dynamic.source_text import SourceFile
from breakscope.report.model import Finding, code_in
from breakscope.rulekit.rule import Rule


def finding_of_line(
    source: SourceFile, path: str, line: int, rule: Rule, message: str, **more: Any
) -> Finding:
    """Observed once on the line of `source`, which is shown as `path`; `more` are further fields."""
    text, (first, lines) = source.line(line), source.frame(line)
    column = len(text) - len(text.lstrip()) + 1
    facts = {
        "path": path,
        "line": line,
        "column": column,
        "end_line": line,
        "end_column": max(column, source.code_end(line)),
        "code": rule.code,
        "rule": rule.name,
        "severity": rule.severity,
        "kind": "usage",
        "confidence": "certain",
        "evidence": "observed",
        "function": source.qualified_name(line),
        "message": message,
        "names": code_in(message),
        "first_source_line": first,
        "source": tuple(lines),
        "count": 1,
    }
    return Finding(**{**facts, **more})
