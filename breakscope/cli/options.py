"""Every option that more than one command takes, in one place."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import click

from breakscope import limits
from breakscope.cli.session import OutputOptions
from breakscope.report import formats
from breakscope.store import default_folder
from breakscope.workflows.choice import Choice


class Seconds(click.FloatRange):
    """A finite number of seconds above 0."""

    def __init__(self) -> None:
        super().__init__(min=0, min_open=True)

    def convert(self, value, param, ctx) -> float:
        seconds = super().convert(value, param, ctx)
        if not math.isfinite(seconds):
            self.fail(f"{value} is no number of seconds.", param, ctx)
        return seconds


class Bytes(click.ParamType):
    """A size in bytes: 0, 500M, 1.5G; the units are powers of 1024."""

    name = "size"

    def convert(self, value, param, ctx) -> int:
        if isinstance(value, int):
            return value
        found = re.fullmatch(
            r"(\d{1,15}(?:\.\d{1,3})?)\s*([KMGT]?)(?:i?B)?", value.strip(), re.IGNORECASE
        )
        if not found:
            self.fail(f"{value!r} is no size; write one such as 8G or 500M.", param, ctx)
        return round(float(found[1]) * 1024 ** " KMGT".index(found[2].upper() or " "))


class Codes(click.ParamType):
    """Codes or prefixes, separated by commas."""

    name = "codes"

    def convert(self, value, param, ctx) -> tuple[str, ...]:
        if isinstance(value, tuple):
            return value
        return tuple(code.strip() for code in value.split(",") if code.strip())


def output_options(command: Callable) -> Callable:
    """--format, --output, --color; read them with `output_from`."""
    return _apply(
        command,
        (
            click.option(
                "--format",
                "-f",
                "format",
                type=click.Choice(formats.names()),
                help="How to show the report [text].",
            ),
            click.option(
                "--output",
                "-o",
                type=click.Path(dir_okay=False),
                default="",
                help="Write the report to this file.",
            ),
            click.option(
                "--show-fixes", is_flag=True, help="Show suggested rewrites in the text format."
            ),
            click.option(
                "--color",
                type=click.Choice(["auto", "always", "never"]),
                default="auto",
                help="Colour the text format.",
            ),
        ),
    )


def output_from(given: dict, to_stderr: bool = False) -> OutputOptions:
    """Takes the values of `output_options` out of a command's arguments."""
    return OutputOptions(
        format=given.pop("format") or "",
        file=given.pop("output"),
        color=given.pop("color"),
        fixes=given.pop("show_fixes"),
        to_stderr=to_stderr,
    )


def cache_option(command: Callable) -> Callable:
    """--cache-dir."""
    return click.option(
        "--cache-dir",
        type=click.Path(),
        default=default_folder,
        metavar="DIR",
        help="The folder of the result cache [breakscope in the user's cache folder].",
    )(command)


def rules_option(command: Callable) -> Callable:
    """--allow-rules."""
    return _apply(
        command,
        (
            click.option(
                "--allow-rules",
                is_flag=True,
                help="Run the rule files that the project's pyproject.toml names.",
            ),
        ),
    )


def choice_options(command: Callable) -> Callable:
    """--select, --ignore and the like; read them with `choice_from`."""
    return _apply(
        command,
        (
            click.option(
                "--select",
                type=Codes(),
                default=(),
                help="Only these codes or prefixes: BRK1,BRK203.",
            ),
            click.option("--extend-select", type=Codes(), default=(), help="These codes too."),
            click.option("--ignore", type=Codes(), default=(), help="Not these codes or prefixes."),
            click.option(
                "--show-possible", is_flag=True, help="Show findings that are only possible."
            ),
            click.option(
                "--all",
                "show_all",
                is_flag=True,
                help="Show possible findings and those that a run refuted.",
            ),
        ),
    )


def choice_from(given: dict) -> Choice:
    """Takes the values of `choice_options` out of a command's arguments."""
    everything = given.pop("show_all")
    return Choice(
        select=given.pop("select"),
        extend_select=given.pop("extend_select"),
        ignore=given.pop("ignore"),
        show_possible=given.pop("show_possible") or everything,
        show_refuted=everything,
    )


def run_options(command: Callable) -> Callable:
    """How to run a target; read them with `run_from`."""
    return _apply(
        command,
        (
            click.option(
                "--calls",
                default="",
                metavar="NAME",
                help="Function of the file that returns the argument tuples.",
            ),
            click.option(
                "--drive",
                default="",
                metavar="NAME",
                help="Function drive(call, model) that makes the calls itself.",
            ),
            click.option(
                "--no-vary", is_flag=True, help="Leave out the call with another batch size."
            ),
            click.option(
                "--backend", default="eager", show_default=True, help="Backend of torch.compile."
            ),
            click.option(
                "--device", default=None, help="cpu, cuda, cuda:1, ... [CUDA when present]."
            ),
            click.option(
                "--timeout",
                type=Seconds(),
                default=300.0,
                show_default=True,
                metavar="SECONDS",
                help="Time limit of the run.",
            ),
            click.option("--no-backward", is_flag=True, help="Run the forward only."),
            click.option(
                "--peel",
                is_flag=True,
                help="Find the breaks behind the breaks: run again with the found ones neutralised. With a backend that makes "
                "code also what each costs per step.",
            ),
            click.option(
                "--peel-rounds",
                type=click.IntRange(min=1),
                help=f"Runs of --peel at most [{limits.MOST_PEEL_ROUNDS}].",
            ),
            click.option(
                "--radar",
                is_flag=True,
                help="Vary batch, sequence, dtype and modes: what will be compiled again?",
            ),
            click.option(
                "--batch-dim",
                type=click.IntRange(min=0),
                help="The dimension that --radar varies as batch [0].",
            ),
            click.option(
                "--sequence-dim",
                type=click.IntRange(min=0),
                help="The dimension that it varies as sequence [guessed].",
            ),
            click.option(
                "--memory",
                type=Bytes(),
                default=None,
                metavar="SIZE",
                help="Memory limit of the run: 8G, 500M; 0 for none [on the CPU, what the machine has free].",
            ),
        ),
    )


def run_from(given: dict, target: str):
    """Takes the values of `run_options` out of a command's arguments; the RunOptions for `target`,
    None without one."""
    for option, owner in (
        ("peel_rounds", "peel"),
        ("batch_dim", "radar"),
        ("sequence_dim", "radar"),
    ):
        if given[option] is not None and not given[owner]:
            raise click.UsageError(f"--{option.replace('_', '-')} says nothing without --{owner}")
    rounds = given.pop("peel_rounds") or limits.MOST_PEEL_ROUNDS
    values = {
        "calls": given.pop("calls"),
        "drive": given.pop("drive"),
        "vary": not given.pop("no_vary"),
        "backend": given.pop("backend"),
        "device": given.pop("device"),
        "timeout": given.pop("timeout"),
        "backward": not given.pop("no_backward"),
        "memory": given.pop("memory"),
        "radar": given.pop("radar"),
        "batch_dim": given.pop("batch_dim"),
        "sequence_dim": given.pop("sequence_dim"),
        "peel": rounds if given.pop("peel") else 0,
    }
    if not target:
        return None
    file, name = split_target(target)
    from breakscope.dynamic import RunOptions

    return RunOptions(file=file, name=name, **values)


def split_target(target: str) -> tuple[str, str]:
    """FILE::NAME in its two parts."""
    file, separator, name = target.rpartition("::")
    if not separator or not file or not name:
        raise click.UsageError(f"{target!r} is no target; write FILE::NAME, such as model.py::make")
    return file, name


def _apply(command: Callable, options: tuple[Callable, ...]) -> Callable:
    for option in reversed(options):
        command = option(command)
    return command
