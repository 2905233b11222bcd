"""breakscope fix PATH..."""

from __future__ import annotations

import click

from breakscope.cli import fixing, options
from breakscope.cli.source_options import check_from, source_options


@click.command("fix")
@click.argument("paths", nargs=-1, type=click.Path(), metavar="PATH...")
@source_options
@fixing.fix_options
@options.target_options
@options.choice_options
@options.output_options
@options.rules_option
def command(paths: tuple[str, ...], allow_rules: bool, config: str, **given) -> int:
    """Rewrite what has a safe fix, and report what remains; the same as `check --fix`."""
    wanted, output = fixing.fix_from(given, True), options.output_from(given)
    run = options.run_from(given, wanted.target)
    request = check_from(given, paths, None)
    return fixing.fix_answer(request, wanted, run, output, allow_rules, config)
