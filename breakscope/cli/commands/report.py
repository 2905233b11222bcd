"""breakscope report PATH..."""

from __future__ import annotations

from pathlib import Path

import click

from breakscope.cli import options
from breakscope.cli.session import OutputOptions, answer, guarded
from breakscope.config import Config
from breakscope.errors import UserError
from breakscope.reading import Unreadable, read_file
from breakscope.report.bench import bench_from_json, is_bench
from breakscope.report.merge import merge
from breakscope.report.model import Report, from_json
from breakscope.workflows.choice import narrow


@click.command("report")
@click.argument("files", nargs=-1, required=True, metavar="PATH...")
@click.option(
    "--source-root",
    "source_roots",
    type=click.Path(file_okay=False, exists=True),
    multiple=True,
    default=(".",),
    metavar="DIR",
    help="Read source lines that a trace names below this folder only [the current one]. May be repeated.",
)
@options.choice_options
@options.output_options
@options.rules_option
@click.pass_obj
def command(
    is_script: bool,
    files: tuple[str, ...],
    source_roots: tuple[str, ...],
    allow_rules: bool,
    **given,
) -> int:
    """Show saved JSON reports and traces in any format; several are shown as one, as those of
    several nodes.

    A trace is a folder that TORCH_TRACE named, a file of it, or what
    TORCH_LOGS=graph_breaks,recompiles printed. What `breakscope bench` saved is shown as text or
    JSON, one file at a time.
    """
    choice, output = options.choice_from(given), options.output_from(given)
    if any(map(_holds_bench, files)):
        return guarded(lambda: _show_measured(files, output))

    def make(config: Config) -> Report:
        return narrow(merge(_read(files, source_roots, config)), choice.selection(config))

    return answer(make, output, allow_rules=allow_rules, ends_process=is_script)


def _read(files: tuple[str, ...], source_roots: tuple[str, ...], config: Config) -> list[Report]:
    """One report for all traces, and the saved ones."""
    reports, traces = [], []
    for file in files:
        try:
            if Path(file).exists() and not (Path(file).is_dir() or Path(file).is_file()):
                raise UserError(f"neither a file nor a folder: {file}")
            if Path(file).is_dir() or not _is_json(Path(file)):
                traces.append(Path(file))
            else:
                reports.append(from_json(read_file(file)))
        except Unreadable as problem:
            raise UserError(f"{file} {problem}") from None
        except OSError as problem:
            raise UserError(f"cannot read {file}: {problem.strerror}") from None
        except ValueError as problem:
            raise UserError(f"{file} is no breakscope report: {problem}") from None
    if traces:
        from breakscope.workflows.trace import read

        reports.insert(0, read(traces, config.rules, source_roots))
    return reports


def _holds_bench(file: str) -> bool:
    try:
        return Path(file).is_file() and _is_json(Path(file)) and is_bench(read_file(file))
    except (OSError, Unreadable):  # said by what reads it
        return False


def _show_measured(files: tuple[str, ...], output: OutputOptions) -> int:
    from breakscope.cli.measurements import deliver_measured

    if len(files) > 1:
        raise UserError("what `breakscope bench` measured is shown alone: breakscope report FILE")
    try:
        measured = bench_from_json(read_file(files[0]))
    except ValueError as problem:
        raise UserError(f"{files[0]} is no measurement of breakscope bench: {problem}") from None
    return deliver_measured(measured, output)


def _is_json(path: Path) -> bool:
    with open(path, "rb") as stream:
        return stream.read(64).lstrip().startswith(b"{")
