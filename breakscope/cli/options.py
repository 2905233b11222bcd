"""Every option that more than one command takes, in one place."""

from __future__ import annotations

from collections.abc import Callable

import click

from breakscope import limits
from breakscope.cli.session import OutputOptions
from breakscope.cli.types import Bytes, Codes, OneOf, Seconds
from breakscope.report import formats
from breakscope.store import default_folder
from breakscope.workflows.choice import Choice


def output_options(command: Callable) -> Callable:
    """How the report is shown; read them with `output_from`."""
    return apply(
        command,
        (
            click.option(
                "--format",
                "-f",
                "format",
                type=OneOf(formats.names()),
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
                "--top",
                type=click.IntRange(min=1),
                metavar="N",
                help="Show the N worst findings only, in the text format.",
            ),
            click.option(
                "--statistics", is_flag=True, help="Show how many findings each rule has."
            ),
            click.option("--quiet", "-q", is_flag=True, help="Show findings and failures only."),
            click.option("--exit-zero", is_flag=True, help="Findings alone end with exit code 0."),
            click.option(
                "--color",
                type=OneOf(["auto", "always", "never"]),
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
        top=given.pop("top") or 0,
        statistics=given.pop("statistics"),
        quiet=given.pop("quiet"),
        exit_zero=given.pop("exit_zero"),
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
    """--allow-rules and --config."""
    return apply(
        command,
        (
            click.option(
                "--allow-rules",
                is_flag=True,
                help="Run the rule files that the project's pyproject.toml names.",
            ),
            click.option(
                "--config",
                type=click.Path(),
                default="",
                metavar="FILE",
                help="Read the settings from this TOML file [the nearest pyproject.toml].",
            ),
        ),
    )


def choice_options(command: Callable) -> Callable:
    """--select, --ignore and the like; read them with `choice_from`."""
    return apply(
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


def target_options(command: Callable) -> Callable:
    """How to run a target; read them with `run_from`."""
    return apply(
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
                "--memory",
                type=Bytes(),
                default=None,
                metavar="SIZE",
                help="Memory limit of the run: 8G, 500M; 0 for none [on the CPU, what the machine has free].",
            ),
        ),
    )


def run_options(command: Callable) -> Callable:
    """The same, and what to look for beyond; read them with `run_from`."""
    look = (
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
            "--prove",
            is_flag=True,
            help="Try each setting that may remove a break or recompile, in a process of its own, and say what helps.",
        ),
        click.option(
            "--repro",
            type=click.Path(),
            metavar="FILE",
            help="Write the smallest program that shows the worst break, recompile or error.",
        ),
        click.option(
            "--repro-at",
            type=click.Path(),
            metavar="PATH:LINE",
            help="With --repro: the finding there, not the worst.",
        ),
        click.option(
            "--fake",
            is_flag=True,
            help="Run with fake tensors: no memory for the model, no GPU, no values and no seconds.",
        ),
        click.option(
            "--explore",
            is_flag=True,
            help="With --fake: also take the other side of what depends on values.",
        ),
        click.option(
            "--explore-runs",
            type=click.IntRange(min=1),
            help=f"Runs of --explore at most [{limits.MOST_EXPLORED_RUNS}].",
        ),
        click.option(
            "--export", is_flag=True, help="With --fake: would torch.export take the target?"
        ),
        click.option(
            "--world-size",
            type=click.IntRange(min=1),
            metavar="N",
            help="With --fake: as if on N ranks.",
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
    )
    return target_options(apply(command, look))


def run_from(given: dict, target: str):
    """Takes the values of `run_options` out of a command's arguments; the RunOptions for `target`,
    None without one."""
    for option, owner in (
        ("peel_rounds", "peel"),
        ("batch_dim", "radar"),
        ("sequence_dim", "radar"),
        ("repro_at", "repro"),
    ):
        if given.get(option) is not None and not given[owner]:
            raise click.UsageError(f"--{option.replace('_', '-')} says nothing without --{owner}")
    if given.get("repro") and given.get("fake"):
        raise click.UsageError("--repro and --fake: a program of its own runs with real tensors")
    fake = _fake_from(given)
    rounds = given.pop("peel_rounds", None) or limits.MOST_PEEL_ROUNDS
    values = {
        "calls": given.pop("calls"),
        "drive": given.pop("drive"),
        "vary": not given.pop("no_vary"),
        "backend": given.pop("backend"),
        "device": given.pop("device"),
        "timeout": given.pop("timeout"),
        "backward": not given.pop("no_backward"),
        "memory": given.pop("memory"),
        "prove": given.pop("prove", False),
        "repro": given.pop("repro", None) or "",
        "repro_at": given.pop("repro_at", None) or "",
        "radar": given.pop("radar", False),
        "batch_dim": given.pop("batch_dim", None),
        "sequence_dim": given.pop("sequence_dim", None),
        "peel": rounds if given.pop("peel", False) else 0,
        "fake": fake,
    }
    if not target:
        if fake is not None:
            raise click.UsageError("--fake says nothing without --run")
        return None
    file, name = split_target(target)
    from breakscope.dynamic import RunOptions

    return RunOptions(file=file, name=name, **values)


def _fake_from(given: dict):
    """The FakeOptions, None without --fake."""
    is_fake, explore = given.pop("fake", False), given.pop("explore", False)
    runs, export = given.pop("explore_runs", None), given.pop("export", False)
    ranks = given.pop("world_size", None)
    if runs is not None and not explore:
        raise click.UsageError("--explore-runs says nothing without --explore")
    if not is_fake:
        for name, wanted in (("explore", explore), ("export", export), ("world-size", ranks)):
            if wanted:
                raise click.UsageError(f"--{name} says nothing without --fake")
        return None
    if given["backend"] != "eager":
        raise click.UsageError(
            "--fake computes nothing that a backend could make faster: leave out --backend"
        )
    from breakscope.dynamic import FakeOptions

    return FakeOptions(
        explore=(runs or limits.MOST_EXPLORED_RUNS) if explore else 0,
        export=export,
        world_size=ranks or 1,
    )


def split_target(target: str) -> tuple[str, str]:
    """FILE::NAME in its two parts."""
    file, separator, name = target.rpartition("::")
    if not separator or not file or not name:
        raise click.UsageError(f"{target!r} is no target; write FILE::NAME, such as model.py::make")
    return file, name


def apply(command: Callable, options: tuple[Callable, ...]) -> Callable:
    for option in reversed(options):
        command = option(command)
    return command
