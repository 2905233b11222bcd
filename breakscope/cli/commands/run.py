"""breakscope run FILE::NAME"""

from __future__ import annotations

import dataclasses

import click

from breakscope.cli import baselines, budgets, options
from breakscope.cli.session import answer
from breakscope.cli.status_line import StatusLine
from breakscope.workflows.baselines import with_baseline
from breakscope.workflows.choice import narrow


@click.command("run")
@click.argument("target", type=click.Path(), metavar="FILE::NAME")
@options.run_options
@click.option(
    "--fix-preview",
    is_flag=True,
    help="Show what fixes this run would prove, without writing them.",
)
@budgets.budget_options
@baselines.baseline_options
@options.choice_options
@options.output_options
@options.rules_option
def command(target: str, fix_preview: bool, allow_rules: bool, config: str, **given) -> int:
    """Run a model's forward and backward under Dynamo, and report what it does.

    NAME is an nn.Module class, a function, or a factory that returns (callable, args, kwargs).
    """
    from breakscope.workflows.run import run

    request = options.run_from(given, target)
    choice, output = options.choice_from(given), options.output_from(given)
    allowed, known = budgets.allowed_from(given), baselines.baseline_from(given)

    def make(config):
        selection = choice.selection(config)
        with StatusLine() as line:
            wanted = dataclasses.replace(request, rules=config.rules, watch=line.show)
            report = narrow(run(wanted), selection)
            if fix_preview:
                from breakscope.workflows.preview import with_preview

                report = with_preview(report, wanted, choice, config)
        report = budgets.with_budgets(report, allowed, config)
        return with_baseline(report, known, config, selection)

    return answer(make, output, allow_rules=allow_rules, config=config)
