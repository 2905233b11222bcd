"""breakscope trace -- CMD..."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

import click

from breakscope.cli import options
from breakscope.cli.session import CLEAN, FAILED, answer, check_writable, save
from breakscope.cli.status_line import StatusLine
from breakscope.config import Config
from breakscope.report.model import Report
from breakscope.report.summary import count
from breakscope.workflows.choice import narrow


@click.command(
    "trace", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False}
)
@click.argument("program", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- CMD...")
@click.option(
    "--compile",
    "compiled",
    is_flag=True,
    help="Compile the outermost nn.Module calls of a program that compiles nothing.",
)
@click.option(
    "--entry",
    "entries",
    multiple=True,
    metavar="FILE::NAME",
    help="With --compile: this function of an imported module too; globs are allowed.",
)
@click.option(
    "--depth",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="With --compile: how deep the compiled module calls are nested; 1 is the outermost.",
)
@click.option(
    "--per-module",
    type=click.IntRange(min=1),
    default=32,
    show_default=True,
    metavar="N",
    help="With --compile: capture N calls of each module class.",
)
@click.option(
    "--timeout",
    type=options.Seconds(),
    default=None,
    metavar="SECONDS",
    help="Stop the program after this time.",
)
@click.option(
    "--save",
    "saved",
    type=click.Path(dir_okay=False),
    default="",
    help="Write the report as JSON too.",
)
@click.option(
    "--keep",
    type=click.Path(file_okay=False),
    default="",
    metavar="DIR",
    help="Keep Dynamo's raw traces there.",
)
@click.option(
    "--exit-code",
    "code_of",
    type=click.Choice(["program", "findings"]),
    default="program",
    show_default=True,
    help="Whose exit code to end with.",
)
@click.option("--no-progress", is_flag=True, help="Print nothing while the program runs.")
@options.choice_options
@options.output_options
@options.rules_option
def command(
    program: tuple[str, ...],
    compiled: bool,
    entries: tuple[str, ...],
    depth: int,
    per_module: int,
    timeout: float | None,
    saved: str,
    keep: str,
    code_of: str,
    no_progress: bool,
    allow_rules: bool,
    **given,
) -> int:
    """Run any command, and report every graph break and recompile in it and in its children.

    With --compile: what would break if its models were compiled? The program is not changed and keeps its input and output; the report goes to stderr, or to
    --output FILE. A program that crashes, is interrupted or runs out of time gets its report too.
    """
    from breakscope.dynamic import CompileModules, Counts, TraceOptions
    from breakscope.workflows.trace import trace

    if entries and not compiled:
        raise click.UsageError("--entry needs --compile")
    for entry in entries:
        if not all(entry.rpartition("::")[::2]):
            raise click.BadParameter(f"{entry}: write FILE::NAME", param_hint="--entry")
    if saved:
        check_writable(saved)
    choice, output = options.choice_from(given), options.output_from(given, to_stderr=True)
    modules = CompileModules(depth=depth, per_module=per_module, entries=entries)
    codes: list[int] = []

    def make(config: Config) -> Report:
        selection = choice.selection(config)
        request = TraceOptions(
            command=program,
            timeout=timeout,
            keep=keep,
            rules=config.rules,
            modules=modules if compiled else None,
        )
        with StatusLine(wanted=not no_progress) as line:

            def watch(seen: Counts) -> None:
                counts = (
                    count(seen.compiles, "compile"),
                    count(seen.breaks, "break"),
                    count(seen.recompiles, "recompile"),
                )
                line.show(", ".join(counts))

            whole = trace(request, watch)
        report = narrow(whole, selection)
        codes.append(whole.run.exit_code or 0)
        if saved:
            save(report, saved)
        return report

    with _patient():
        code = answer(make, output, allow_rules=allow_rules)
    if code_of == "findings" or not codes:
        return code
    return codes[0] or (FAILED if code == FAILED else CLEAN)


@contextmanager
def _patient() -> Iterator[None]:
    """Whoever interrupts the program may do so twice, and the second time must not cost the report."""
    received: list[int] = []

    def handle(number: int, frame: object) -> None:
        received.append(number)
        if len(received) > 2:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
