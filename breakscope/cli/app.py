"""The click side of the command line. Every module in `commands` is one command, under its own
name."""

from __future__ import annotations

import os
import pkgutil
from importlib import import_module

import click

from breakscope import __version__
from breakscope.cli import commands
from breakscope.cli.session import complain, guarded
from breakscope.texts import did_you_mean, nearest


class Commands(click.Group):
    """Finds commands by file, and imports only the one that is called."""

    def list_commands(self, context: click.Context) -> list[str]:
        return sorted(module.name for module in pkgutil.iter_modules(commands.__path__))

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in self.list_commands(context):
            return None
        return import_module(f"{commands.__name__}.{name}").command

    def resolve_command(self, context: click.Context, args: list[str]):
        """As click does; a refusal says what may have been meant."""
        name, known = args[0], self.list_commands(context)
        if name in known or name.startswith("-") or context.resilient_parsing:
            return super().resolve_command(context, args)
        if os.path.exists(name):
            hint = f"; did you mean `breakscope check {name}`?"
        elif os.path.isfile(name.rpartition("::")[0]):
            hint = f"; did you mean `breakscope run {name}`?"
        else:
            hint = did_you_mean(name, known) or f"; there are {', '.join(known)}"
        raise click.UsageError(f"there is no command {name!r}{hint}", context)


@click.command(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="breakscope", message="%(prog)s %(version)s")
def breakscope() -> None:
    """Where torch.compile breaks or recompiles, why, what it costs, and how it is fixed.

    Exit codes: 0 nothing found, 1 findings, 2 wrong use, bad configuration, a failure, or a file or
    target that could not be checked or run.
    """


def run(arguments: list[str], is_script: bool = False) -> int:
    """Run a command line through click; the exit code. `is_script`: the process is ours, and ends
    behind the command."""

    def work() -> int:
        try:
            return (
                breakscope.main(
                    args=arguments, prog_name="breakscope", standalone_mode=False, obj=is_script
                )
                or 0
            )
        except click.exceptions.NoArgsIsHelpError as problem:
            print(problem.format_message())
            return 2
        except click.NoSuchOption as problem:
            return complain(f"{_no_such_option(problem)}{_see(problem)}")
        except click.ClickException as problem:
            return complain(problem.format_message().rstrip(".") + _see(problem))
        except click.exceptions.Abort:
            raise KeyboardInterrupt from None

    return guarded(work)


def _no_such_option(problem: click.NoSuchOption) -> str:
    """As click says it, with our own choice of what may have been meant: dashes are no likeness."""
    command = problem.ctx.command if problem.ctx else breakscope
    known = [name for option in command.params for name in option.opts if name.startswith("--")]
    meant = problem.option_name.lstrip("-")
    near = nearest(meant, [name[2:] for name in known]) if len(meant) > 1 else []
    hint = f"; did you mean {' or '.join(f'--{name}' for name in near)}?" if near else ""
    return f"No such option {problem.option_name!r}{hint}"


def _see(problem: click.ClickException) -> str:
    context = getattr(problem, "ctx", None)
    return f" (see `{context.command_path} --help`)" if context else ""
