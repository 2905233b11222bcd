"""breakscope check PATH..."""

from __future__ import annotations

import click

from breakscope.cli import baselines, fixing, looking, options
from breakscope.cli.session import answer
from breakscope.cli.source_options import check_from, source_options
from breakscope.workflows.check import check


@click.command("check")
@click.argument("paths", nargs=-1, type=click.Path(), metavar="PATH...")
@source_options
@click.option(
    "--run",
    "target",
    type=click.Path(),
    default="",
    metavar="FILE::NAME",
    help="Run this target too, and join what the run saw.",
)
@click.option("--fix", "fixes", is_flag=True, help="Apply fixes, as `breakscope fix` does.")
@fixing.fix_options
@looking.looking_options
@baselines.baseline_options
@options.choice_options
@options.run_options
@options.output_options
@options.rules_option
@click.pass_obj
def command(
    is_script: bool,
    paths: tuple[str, ...],
    target: str,
    fixes: bool,
    allow_rules: bool,
    config: str,
    **given,
) -> int:
    """Find graph breaks and recompiles in source files, without running or importing them.

    PATH is a file, a folder, or - for standard input.
    """
    wanted = fixing.fix_from(given, fixes)
    if wanted is not None and target:
        raise click.UsageError("--run cannot go with --fix; --verify runs a target for fixes")
    look, output = looking.looking_from(given, paths), options.output_from(given)
    looking.refuse(look, output, bool(target), wanted is not None)
    run = options.run_from(given, wanted.target if wanted else target)
    sources = looking.read_stdin(look)
    request = check_from(given, tuple(look.sources) or paths, None if wanted else run, sources)
    if look.is_question:
        return looking.show(look, request, allow_rules, config)
    if look.watch:
        return looking.watch(request, output, allow_rules, config)
    if wanted is not None:
        return fixing.fix_answer(request, wanted, run, output, allow_rules, config)
    return answer(
        lambda read: check(request, read),
        output,
        allow_rules=allow_rules,
        config=config,
        ends_process=is_script,
    )
