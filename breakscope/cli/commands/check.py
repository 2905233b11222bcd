"""breakscope check PATH..."""

from __future__ import annotations

import click

from breakscope.cli import options
from breakscope.cli.session import answer
from breakscope.static.jobs import cores
from breakscope.workflows.check import CheckOptions, check


@click.command("check")
@click.argument("paths", nargs=-1, metavar="PATH...")
@click.option(
    "--entry",
    multiple=True,
    metavar="FILE::NAME",
    help="Treat this function or class as compiled, or what it returns; globs allowed: '*::make'. May be repeated.",
)
@click.option(
    "--torch",
    default="",
    metavar="VERSION",
    help="Assume this torch version [the installed one].",
)
@click.option(
    "--python",
    default="",
    metavar="PATH",
    help="The environment that the code runs in: its folder, or its Python, which is not run "
    "[the activated one, else `.venv` of the project].",
)
@click.option("--no-libraries", is_flag=True, help="Do not follow calls into installed packages.")
@click.option(
    "--jobs",
    "-j",
    type=click.IntRange(min=1),
    metavar="N",
    help="Analyse by up to N processes [one for each core].",
)
@options.cache_option
@click.option("--no-cache", is_flag=True, help="Use no answers of earlier checks, and keep none.")
@click.option(
    "--run",
    "target",
    default="",
    metavar="FILE::NAME",
    help="Run this target too, and join what the run saw.",
)
@options.choice_options
@options.run_options
@options.output_options
@options.rules_option
@click.pass_obj
def command(
    is_script: bool,
    paths: tuple[str, ...],
    entry: tuple[str, ...],
    torch: str,
    python: str,
    no_libraries: bool,
    jobs: int | None,
    cache_dir: str,
    no_cache: bool,
    target: str,
    allow_rules: bool,
    **given,
) -> int:
    """Find graph breaks and recompiles in source files, without running or importing them."""
    run, output = options.run_from(given, target), options.output_from(given)
    request = CheckOptions(
        paths=paths,
        entries=entry,
        torch=torch,
        python=python,
        libraries=not no_libraries,
        jobs=jobs or cores(),
        cache="" if no_cache else cache_dir,
        choice=options.choice_from(given),
        run=run,
    )
    return answer(
        lambda config: check(request, config),
        output,
        allow_rules=allow_rules,
        ends_process=is_script,
    )
