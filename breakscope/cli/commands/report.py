"""breakscope report FILE..."""

from __future__ import annotations

from pathlib import Path

import click

from breakscope.cli import options
from breakscope.cli.session import answer
from breakscope.errors import UserError
from breakscope.report.merge import merge
from breakscope.report.model import Report, from_json
from breakscope.workflows.choice import narrow


@click.command("report")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@options.choice_options
@options.output_options
def command(files: tuple[str, ...], **given) -> int:
    """Show saved JSON reports in any format; several are shown as one."""
    choice, output = options.choice_from(given), options.output_from(given)
    return answer(lambda config: narrow(merge([_read(file) for file in files]), choice.selection(config)), output)


def _read(file: str) -> Report:
    try:
        return from_json(Path(file).read_bytes())
    except OSError as problem:
        raise UserError(f"cannot read {file}: {problem.strerror}") from None
    except ValueError as problem:
        raise UserError(f"{file} is no breakscope report: {problem}") from None
