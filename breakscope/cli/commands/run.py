"""breakscope run FILE::NAME"""

from __future__ import annotations

import dataclasses

import click

from breakscope.cli import options
from breakscope.cli.session import answer
from breakscope.workflows.choice import narrow


@click.command("run")
@click.argument("target", metavar="FILE::NAME")
@options.run_options
@options.choice_options
@options.output_options
@options.rules_option
def command(target: str, allow_rules: bool, **given) -> int:
    """Run a model's forward and backward under Dynamo, and report what it does.

    NAME is an nn.Module class, a function, or a factory that returns (callable, args, kwargs).
    """
    from breakscope.workflows.run import run

    request = options.run_from(given, target)
    choice, output = options.choice_from(given), options.output_from(given)

    def make(config):
        selection = choice.selection(config)
        return narrow(run(dataclasses.replace(request, rules=config.rules)), selection)

    return answer(make, output, allow_rules=allow_rules)
