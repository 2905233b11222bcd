"""breakscope trace -- CMD..."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

import click

from breakscope.cli import baselines, budgets, options
from breakscope.cli.session import CLEAN, FAILED, FOUND, answer, check_writable, save
from breakscope.cli.status_line import StatusLine
from breakscope.cli.types import OneOf, Seconds
from breakscope.config import Config
from breakscope.report.model import Report
from breakscope.report.summary import count
from breakscope.workflows.baselines import with_baseline
from breakscope.workflows.choice import narrow


@click.command(
    "trace", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False}
)
@click.argument("program", nargs=-1, required=True, type=click.Path(), metavar="-- CMD...")
@click.option(
    "--compile",
    "compiled",
    is_flag=True,
    help="Compile the outermost nn.Module calls of a program that compiles nothing.",
)
@click.option(
    "--entry",
    "entries",
    type=click.Path(),
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
    "--alike",
    type=click.IntRange(min=1),
    default=4,
    show_default=True,
    metavar="N",
    help="With --compile: capture N instances of a class that are built and called alike.",
)
@click.option(
    "--timeout",
    type=Seconds(),
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
    type=OneOf(["program", "findings"]),
    default="program",
    show_default=True,
    help="Whose exit code to end with.",
)
@click.option(
    "--prove",
    is_flag=True,
    help="Run the program again with each setting that may remove a break or recompile, and say what helps.",
)
@click.option("--no-progress", is_flag=True, help="Print nothing while the program runs.")
@budgets.budget_options
@baselines.baseline_options
@options.choice_options
@options.output_options
@options.rules_option
def command(
    program: tuple[str, ...],
    compiled: bool,
    entries: tuple[str, ...],
    depth: int,
    per_module: int,
    alike: int,
    timeout: float | None,
    saved: str,
    keep: str,
    code_of: str,
    prove: bool,
    no_progress: bool,
    allow_rules: bool,
    config: str,
    **given,
) -> int:
    """Run any command, and report every graph break and recompile in it and in its children.

    With --compile: what would break if its models were compiled? The program is not changed and keeps its input and output; the report goes to stderr, or to
    --output FILE. A program that crashes, is interrupted or runs out of time gets its report too.
    """
    from breakscope.dynamic import CompileModules, Look, TraceOptions
    from breakscope.workflows.trace import trace

    if program[0].startswith("-"):
        raise click.NoSuchOption(program[0].partition("=")[0], ctx=click.get_current_context())
    if entries and not compiled:
        raise click.UsageError("--entry needs --compile")
    for entry in entries:
        if not all(entry.rpartition("::")[::2]):
            raise click.BadParameter(f"{entry}: write FILE::NAME", param_hint="--entry")
    if saved:
        check_writable(saved)
    choice, output = options.choice_from(given), options.output_from(given, to_stderr=True)
    modules = CompileModules(depth=depth, per_module=per_module, alike=alike, entries=entries)
    allowed, known = budgets.allowed_from(given), baselines.baseline_from(given)
    codes: list[int] = []
    kept: list[bool] = []

    def make(config: Config) -> Report:
        selection = choice.selection(config)
        request = TraceOptions(
            command=program,
            timeout=timeout,
            keep=keep,
            rules=config.rules,
            modules=modules if compiled else None,
            prove=prove,
        )
        with StatusLine(wanted=not no_progress) as line:

            def watch(seen: Look) -> None:
                for event in seen.lines:
                    line.add(event)
                counts = (
                    count(seen.compiles, "compile"),
                    count(seen.breaks, "break"),
                    count(seen.recompiles, "recompile"),
                )
                line.show(", ".join(counts))

            whole = trace(
                request, None if no_progress else watch, None if no_progress else line.add
            )
        report = budgets.with_budgets(narrow(whole, selection), allowed, config)
        report = with_baseline(report, known, config, selection)
        of_baseline = report.baseline.budgets if report.baseline else ()
        kept.extend(budget.kept for budget in (*report.budgets, *of_baseline))
        codes.append(whole.run.exit_code or 0)
        if saved:
            save(report, saved)
        return report

    with _patient():
        code = answer(make, output, allow_rules=allow_rules, config=config)
    if code_of == "findings" or not codes:
        return code
    return codes[0] or (FAILED if code == FAILED else CLEAN if all(kept) else FOUND)


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
