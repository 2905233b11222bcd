"""A report as IPython and notebooks show it."""

from __future__ import annotations

import io
from html import escape

from breakscope.report.escaping import in_one_line
from breakscope.report.formats import RenderOptions, render
from breakscope.report.model import Report
from breakscope.report.summary import count, how_bad
from breakscope.report.verdict import verdict


class ShownReport(Report, kw_only=True):
    """A report whose repr is one line, and which a notebook shows as a block that begins with what
    it comes to."""

    __hash__ = Report.__hash__

    def __eq__(self, other: object) -> bool:
        """Equal to any report that says the same."""
        return isinstance(other, Report) and all(
            getattr(self, name) == getattr(other, name) for name in Report.__struct_fields__
        )

    def __repr__(self) -> str:
        return f"<breakscope report: {in_one_line(how_bad(self))}>"

    def _repr_html_(self) -> str:
        first = [how_bad(self), *verdict(self)]
        lines = "".join(f"<div>{escape(in_one_line(line))}</div>" for line in first)
        if not (self.findings or self.errors or self.notes or self.run):
            return f"<div>{lines}</div>"
        found = count(len(self.findings), "finding")
        return (
            f"<div><b>breakscope</b>{lines}"
            f"<details open><summary>{found}</summary>{_as_html(self)}</details></div>"
        )


def shown(report: Report) -> ShownReport:
    """The same report, as a person at a prompt wants to see it."""
    return ShownReport(**{name: getattr(report, name) for name in Report.__struct_fields__})


def _as_html(report: Report) -> str:
    """The text format, with its colours."""
    from rich.console import Console
    from rich.text import Text

    text = Text.from_ansi(render(report, "text", RenderOptions(color=True)))
    console = Console(file=io.StringIO(), record=True, width=10_000, legacy_windows=False)
    console.print(text, soft_wrap=True, highlight=False, markup=False)
    return console.export_html(
        inline_styles=True, code_format='<pre style="white-space: pre-wrap">{code}</pre>'
    )
