"""The options of budgets: what a run, a trace or a report may hold before the exit code is 1."""

from __future__ import annotations

from collections.abc import Callable

import click

from breakscope.cli.options import apply
from breakscope.config import Config
from breakscope.report.comparing.budget import Allowed, read_after, read_percent
from breakscope.report.comparing.judging import judged
from breakscope.report.model import Report


class Read(click.ParamType):
    """A text that a function of ours reads."""

    def __init__(self, name: str, reader: Callable) -> None:
        self.name, self.reader = name, reader

    def convert(self, value, param, ctx):
        try:
            return self.reader(value)
        except ValueError as problem:
            self.fail(f"{problem}", param, ctx)


def budget_options(command: Callable) -> Callable:
    """--max-breaks, --max-recompiles-after, --min-coverage; read them with `allowed_from`."""
    return apply(
        command,
        (
            click.option(
                "--max-breaks",
                type=click.IntRange(min=0),
                metavar="N",
                help="Budget: at most N places that break. With a budget, the exit code says whether it is kept.",
            ),
            click.option(
                "--max-recompiles-after",
                type=Read("step", read_after),
                metavar="STEP[:N]",
                help="Budget: no recompile after this call of a run, or second (60s) of a program; N at most.",
            ),
            click.option(
                "--min-coverage",
                type=Read("percent", read_percent),
                metavar="PERCENT",
                help="Budget: the share that runs compiled, of op time, in a trace of functions.",
            ),
        ),
    )


def allowed_from(given: dict) -> Allowed:
    """Takes the values of `budget_options` out of a command's arguments."""
    values = {
        "max-breaks": given.pop("max_breaks"),
        "max-recompiles-after": given.pop("max_recompiles_after"),
        "min-coverage": given.pop("min_coverage"),
    }
    return Allowed(
        breaks=values["max-breaks"],
        recompiles=values["max-recompiles-after"],
        coverage=values["min-coverage"],
        required=frozenset(name for name, value in values.items() if value is not None),
    )


def with_budgets(report: Report, allowed: Allowed, config: Config) -> Report:
    """The report, judged by the command line's budgets and, where it names none, the
    configuration's."""
    return judged(report, allowed.or_else(config.allowed))
