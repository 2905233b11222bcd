"""breakscope diff BEFORE AFTER"""

from __future__ import annotations

import click

from breakscope.cli import budgets, options
from breakscope.cli.saved import holds_bench, read_reports
from breakscope.cli.session import (
    CLEAN,
    FAILED,
    FOUND,
    guarded,
    settings,
    terminal_width,
    wants_color,
    write,
    write_file,
)
from breakscope.cli.types import OneOf
from breakscope.config import Config
from breakscope.errors import UserError
from breakscope.report.comparing import markdown, text
from breakscope.report.comparing.difference import Difference, difference
from breakscope.report.escaping import struct_json
from breakscope.report.model import Report
from breakscope.workflows.choice import narrow


@click.command("diff")
@click.argument("before", type=click.Path(), metavar="BEFORE")
@click.argument("after", type=click.Path(), metavar="AFTER")
@click.option(
    "--format",
    "-f",
    "name",
    type=OneOf(["text", "json", "markdown"]),
    default="text",
    show_default=True,
    help="How to show the difference; markdown is for a pull request.",
)
@click.option(
    "--output",
    "-o",
    "file",
    type=click.Path(dir_okay=False),
    default="",
    help="Write the difference to this file.",
)
@click.option(
    "--color",
    type=OneOf(["auto", "always", "never"]),
    default="auto",
    help="Colour the text format.",
)
@budgets.budget_options
@options.choice_options
@options.rules_option
def command(
    before: str,
    after: str,
    name: str,
    file: str,
    color: str,
    allow_rules: bool,
    config: str,
    **given,
) -> int:
    """Compare two saved reports (JSON): what is gone, what is new, what moved, what it costs.

    A finding whose line, function or file has another name or number, and whose code is the same,
    has moved. The exit code is 1 when something is new; with budgets, when AFTER does not keep them.
    """
    choice, allowed = options.choice_from(given), budgets.allowed_from(given)

    def read(path: str, config: Config) -> Report:
        if holds_bench(path):
            raise UserError(f"{path} holds what `breakscope bench` measured, and no findings")
        (report,) = read_reports((path,), (".",), config)
        return narrow(report, choice.selection(config))

    def work() -> int:
        read_settings = settings(allow_rules, config)
        later = budgets.with_budgets(read(after, read_settings), allowed, read_settings)
        found = difference(read(before, read_settings), later, (before, after))
        shown = _shown(found, name, "" if file else color)
        if file:
            write_file(file, shown)
        else:
            write(shown)
        return _exit_code(found)

    return guarded(work)


def _shown(found: Difference, name: str, color: str) -> str:
    if name == "json":
        return struct_json(found).decode()
    if name == "markdown":
        return markdown.render(found)
    width = terminal_width() if color else None
    return text.render(found, width, bool(color) and wants_color(color, width is not None))


def _exit_code(found: Difference) -> int:
    if found.errors:
        return FAILED
    kept = all(budget.kept for budget in found.budgets) if found.budgets else not found.new
    return CLEAN if kept else FOUND
