"""The options of a baseline: which findings are no news."""

from __future__ import annotations

import os
from collections.abc import Callable

import click

from breakscope.cli.options import apply
from breakscope.report.comparing.baseline import DEFAULT_FILE
from breakscope.static.project.files import CHECKED
from breakscope.workflows.choice import BaselineChoice

ANY = "\0"  # --write-baseline without a file


def baseline_options(command: Callable) -> Callable:
    """--baseline, --write-baseline, --no-baseline; read them with `baseline_from`."""
    return apply(
        command,
        (
            click.option(
                "--baseline",
                type=click.Path(),
                default="",
                metavar="FILE",
                help="Report only what this file does not know.",
            ),
            click.option(
                "--write-baseline",
                is_flag=False,
                flag_value=ANY,
                default="",
                metavar="[FILE]",
                help=f"Write what is found to a baseline [{DEFAULT_FILE}], behind the paths or as =FILE.",
            ),
            click.option("--no-baseline", is_flag=True, help="Leave out that of the settings."),
        ),
    )


def baseline_from(given: dict) -> BaselineChoice:
    """Takes the values of `baseline_options` out of a command's arguments."""
    file, write, off = (
        given.pop("baseline"),
        given.pop("write_baseline"),
        given.pop("no_baseline"),
    )
    if off and (file or write):
        raise click.UsageError("--no-baseline cannot go with another option of baselines")
    if not write or write == ANY:
        return BaselineChoice(file, bool(write), off)
    if os.path.isdir(write) or write.endswith(CHECKED):
        raise click.UsageError(
            f"--write-baseline takes {write!r} for its file; write --write-baseline=FILE, or put it "
            "behind the paths"
        )
    if file and file != write:
        raise click.UsageError("--baseline and --write-baseline name two files")
    return BaselineChoice(write, True)
