"""The options of source analysis, which `check` and `fix` take."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import click

from breakscope.cli.baselines import baseline_from
from breakscope.cli.options import apply, cache_option, choice_from
from breakscope.static.project.reads import NO_SOURCES
from breakscope.workflows.check import CheckOptions
from breakscope.workflows.choice import BaselineChoice


def source_options(command: Callable) -> Callable:
    """What source analysis is made of; read them with `check_from`."""
    return apply(
        command,
        (
            click.option(
                "--entry",
                type=click.Path(),
                multiple=True,
                metavar="FILE::NAME",
                help="Treat this function or class as compiled, or what it returns; globs allowed: '*::make'. May be repeated.",
            ),
            click.option(
                "--torch",
                default="",
                metavar="VERSION",
                help="Assume this torch version [the installed one].",
            ),
            click.option(
                "--python",
                type=click.Path(),
                default="",
                metavar="PATH",
                help="The environment that the code runs in: its folder, or its Python, which is not run "
                "[the activated one, else `.venv` of the project].",
            ),
            click.option(
                "--no-libraries", is_flag=True, help="Do not follow calls into installed packages."
            ),
            click.option(
                "--jobs",
                "-j",
                type=click.IntRange(min=1),
                metavar="N",
                help="Analyse by up to N processes [one for each core].",
            ),
            click.option(
                "--follow",
                is_flag=True,
                help="Also show findings in other files, which the named ones lead to.",
            ),
            cache_option,
            click.option(
                "--no-cache",
                is_flag=True,
                help="Use no answers of earlier checks, and keep none.",
            ),
        ),
    )


def check_from(
    given: dict, paths: tuple[str, ...], run, sources: Mapping[str, bytes] = NO_SOURCES
) -> CheckOptions:
    """Takes the values of `source_options` and `choice_options` out of a command's arguments; `run`
    is a run to join with, or None; `sources` is what files are checked as."""
    from breakscope.static.jobs import cores

    known = baseline_from(given) if "write_baseline" in given else BaselineChoice()
    no_cache, cache_dir = given.pop("no_cache"), given.pop("cache_dir")
    return CheckOptions(
        paths=paths,
        sources=sources,
        entries=given.pop("entry"),
        torch=given.pop("torch"),
        python=given.pop("python"),
        libraries=not given.pop("no_libraries"),
        jobs=given.pop("jobs") or cores(),
        cache="" if no_cache else cache_dir,
        follow=given.pop("follow"),
        choice=choice_from(given),
        baseline=known,
        run=run,
    )
