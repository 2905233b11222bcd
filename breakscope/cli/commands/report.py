"""breakscope report PATH..."""

from __future__ import annotations

import click

from breakscope.cli import baselines, budgets, options
from breakscope.cli.saved import holds_bench, read_reports
from breakscope.cli.session import OutputOptions, answer, guarded
from breakscope.config import Config
from breakscope.errors import UserError
from breakscope.reading import read_file
from breakscope.report.bench import bench_from_json
from breakscope.report.combining.merge import merge
from breakscope.report.model import Report
from breakscope.workflows.baselines import with_baseline
from breakscope.workflows.choice import narrow


@click.command("report")
@click.argument("files", nargs=-1, required=True, type=click.Path(), metavar="PATH...")
@click.option(
    "--source-root",
    "source_roots",
    type=click.Path(file_okay=False, exists=True),
    multiple=True,
    default=(".",),
    metavar="DIR",
    help="Read source lines that a trace names below this folder only [the current one]. May be repeated.",
)
@budgets.budget_options
@baselines.baseline_options
@options.choice_options
@options.output_options
@options.rules_option
@click.pass_obj
def command(
    is_script: bool,
    files: tuple[str, ...],
    source_roots: tuple[str, ...],
    allow_rules: bool,
    config: str,
    **given,
) -> int:
    """Show saved JSON reports and traces in any format; several are shown as one, as those of
    several nodes.

    A trace is a folder that TORCH_TRACE named, a file of it, or what
    TORCH_LOGS=graph_breaks,recompiles printed. What `breakscope bench` saved is shown as text or
    JSON, one file at a time.
    """
    choice, output = options.choice_from(given), options.output_from(given)
    allowed, known = budgets.allowed_from(given), baselines.baseline_from(given)
    if any(map(holds_bench, files)):
        return guarded(lambda: _show_measured(files, output))

    def make(config: Config) -> Report:
        whole = merge(read_reports(files, source_roots, config))
        selection = choice.selection(config)
        report = budgets.with_budgets(narrow(whole, selection), allowed, config)
        return with_baseline(report, known, config, selection)

    return answer(make, output, allow_rules=allow_rules, config=config, ends_process=is_script)


def _show_measured(files: tuple[str, ...], output: OutputOptions) -> int:
    from breakscope.cli.measurements import deliver_measured

    if len(files) > 1:
        raise UserError("what `breakscope bench` measured is shown alone: breakscope report FILE")
    try:
        measured = bench_from_json(read_file(files[0]))
    except ValueError as problem:
        raise UserError(f"{files[0]} is no measurement of breakscope bench: {problem}") from None
    return deliver_measured(measured, output)
