"""What the commands that apply fixes have in common: their options, progress and output."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

import click
from msgspec import Struct
from msgspec.structs import replace

from breakscope.cli.session import CLEAN, FAILED, FOUND, OutputOptions, answer
from breakscope.report.escaping import in_one_line
from breakscope.report.model import Report
from breakscope.report.summary import count, fixes_text
from breakscope.workflows.check import CheckOptions

if TYPE_CHECKING:
    from breakscope.dynamic import RunOptions


ALONE = "alone"


class Fixing(Struct, frozen=True):
    """What the options say."""

    diff: bool
    unsafe: bool
    verify: str  # FILE::NAME, ALONE, or "" for none

    @property
    def target(self) -> str:
        """What to run; some name where each function is run by itself."""
        return f"{ALONE}::{ALONE}" if self.verify == ALONE else self.verify


def fix_options(command: Callable) -> Callable:
    """--diff, --unsafe-fixes, --verify; read them with `fix_from`."""
    for option in (
        click.option(
            "--verify",
            type=click.Path(),
            default="",
            metavar="FILE::NAME",
            help="Keep a fix only if this target, run before and after, proves it; `alone`: each function "
            "by itself, with guessed arguments.",
        ),
        click.option(
            "--unsafe-fixes",
            is_flag=True,
            help="Apply fixes, too, that may change what the program does; their pages say how.",
        ),
        click.option(
            "--diff", is_flag=True, help="Show what fixes would change, and write nothing."
        ),
    ):
        command = option(command)
    return command


def fix_from(given: dict, wanted: bool) -> Fixing | None:
    """Takes the values of `fix_options` out of a command's arguments; None where no fix is wanted."""
    fixing = Fixing(given.pop("diff"), given.pop("unsafe_fixes"), given.pop("verify"))
    for name, value in (("--unsafe-fixes", fixing.unsafe), ("--verify", fixing.verify)):
        if value and not (wanted or fixing.diff):
            raise click.UsageError(f"{name} says nothing without --fix or --diff")
    return fixing if wanted or fixing.diff else None


def fix_answer(
    request: CheckOptions,
    fixing: Fixing,
    run: RunOptions | None,
    output: OutputOptions,
    allow_rules: bool,
    config: str,
) -> int:
    """Fix, and deliver the report; the exit code is that of a check of what remains, or with --diff
    1 where there is a difference. `run` is the run that has to prove each fix, or None."""
    from breakscope.cli.status_line import StatusLine
    from breakscope.workflows.fix import FixRequest, fix

    made = []

    def make(read):
        with StatusLine(wanted=_is_terminal()) as line:
            wanted = FixRequest(
                unsafe=fixing.unsafe,
                write=not fixing.diff,
                verify=run,
                alone=fixing.verify == ALONE,
                progress=line.show,
            )
            made.append(fix(request, wanted, read))
        return made[-1]

    code = answer(
        make, replace(output, diff_only=fixing.diff), allow_rules=allow_rules, config=config
    )
    if not made or not fixing.diff:
        return code
    report = made[-1]
    if output.format in ("", "text"):  # stdout is for `patch`
        _say(report)
    return FAILED if report.errors else FOUND if report.fixes.files else CLEAN


def _say(report: Report) -> None:
    for error in report.errors:
        place = f"{error.path}: " if error.path else ""
        print(f"breakscope: error: {in_one_line(place + error.message)}", file=sys.stderr)
    for note in report.fixes.notes:
        print(f"breakscope: note: {in_one_line(note)}", file=sys.stderr)
    for reason, number in Counter(place.reason for place in report.fixes.not_fixed).most_common():
        text = f"{count(number, 'place')} not fixed: {in_one_line(reason)}"
        print(f"breakscope: note: {text}", file=sys.stderr)
    print(fixes_text(report.fixes), file=sys.stderr)


def _is_terminal() -> bool:
    try:
        return sys.stderr.isatty()
    except ValueError:  # closed
        return False
