"""What `check` does beside a single report on files: it reads standard input, shows which files and
settings hold, and checks again whenever a file is saved."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING

import click
from msgspec import Struct
from msgspec.structs import replace

from breakscope.cli.options import apply
from breakscope.cli.session import CLEAN, OutputOptions, deliver, guarded, settings, write
from breakscope.errors import UserError
from breakscope.report.escaping import in_one_line
from breakscope.report.model import Finding
from breakscope.report.summary import count
from breakscope.static.project.files import relative_path
from breakscope.workflows.check import CheckOptions

if TYPE_CHECKING:
    from breakscope.workflows.rechecking import News

STDIN = "-"


class Looking(Struct, frozen=True):
    """What the options say. `sources` is standard input under the name that it goes by."""

    show_files: bool = False
    show_settings: bool = False
    watch: bool = False
    sources: Mapping[str, bytes] = {}

    @property
    def is_question(self) -> bool:
        return self.show_files or self.show_settings


def looking_options(command: Callable) -> Callable:
    """--stdin-filename, --show-files, --show-settings, --watch; read them with `looking_from`."""
    return apply(
        command,
        (
            click.option(
                "--stdin-filename",
                type=click.Path(),
                default="",
                metavar="FILE",
                help="The file that standard input, PATH -, stands for [-].",
            ),
            click.option("--watch", is_flag=True, help="Check again when a file is saved."),
            click.option("--show-files", is_flag=True, help="List the files, and check nothing."),
            click.option(
                "--show-settings", is_flag=True, help="Show what settings hold, and check nothing."
            ),
        ),
    )


def looking_from(given: dict, paths: tuple[str, ...]) -> Looking:
    """Takes the values of `looking_options` out of a command's arguments; reads standard input
    where the paths name it."""
    name = given.pop("stdin_filename")
    look = Looking(
        show_files=given.pop("show_files"),
        show_settings=given.pop("show_settings"),
        watch=given.pop("watch"),
        sources={name or STDIN: b""} if STDIN in paths else {},
    )
    if name and not look.sources:
        raise click.UsageError("--stdin-filename says nothing without the path -")
    if look.sources and len(paths) > 1:
        raise click.UsageError("standard input, -, is checked alone")
    if look.watch and look.is_question:
        raise click.UsageError("--watch cannot go with --show-files or --show-settings")
    return look


def refuse(look: Looking, output: OutputOptions, target: bool, fixes: bool) -> None:
    """Raise UsageError for options that do not fit together."""
    for name, wanted in (
        ("standard input, -,", bool(look.sources)),
        ("--watch", look.watch),
        ("--show-files", look.show_files),
        ("--show-settings", look.show_settings),
    ):
        if wanted and target:
            raise click.UsageError(f"{name} cannot go with --run")
        if wanted and fixes:
            raise click.UsageError(f"{name} cannot go with --fix, --diff or --verify")
    if look.watch and look.sources:
        raise click.UsageError("standard input cannot be watched")
    if look.watch and (output.file or output.format not in ("", "text", "concise")):
        raise click.UsageError(
            "--watch writes text to the terminal; leave out --output and --format"
        )


def read_stdin(look: Looking) -> dict[str, bytes]:
    """What standard input holds, by the absolute path that it stands for."""
    stream = getattr(sys.stdin, "buffer", None)
    if stream is None:
        raise UserError("standard input is closed")
    return {os.path.abspath(name): stream.read() for name in look.sources}


def show(look: Looking, request: CheckOptions, allow_rules: bool, config: str) -> int:
    """Print what a check would look at, or the settings that it would have."""
    from breakscope.workflows.shown import file_list, settings_text

    request = replace(request, paths=request.paths or (os.curdir,))

    def work() -> int:
        read = settings(allow_rules, config)
        if look.show_files:
            write("".join(f"{path}\n" for path in file_list(request, read)))
        if look.show_settings:
            write(settings_text(request, read))
        return CLEAN

    return guarded(work)


def watch(request: CheckOptions, output: OutputOptions, allow_rules: bool, config: str) -> int:
    """Check, and check again when a file is saved, until the user interrupts."""
    from breakscope.workflows.rechecking import checked_again

    def work() -> int:
        first = settings(allow_rules, config)
        name = output.format or first.format or "text"
        news = checked_again(request, lambda: settings(allow_rules, config))
        for number, new in enumerate(news):
            report = new.report
            if number:
                write(_headline(new))
                report = replace(report, findings=new.came)
                write("".join(f"went: {_one_line(finding)}\n" for finding in new.went))
            deliver(report, name, replace(output, quiet=output.quiet or number > 0), first)
            if not number and not output.quiet:
                write("watching: a file that is saved is checked again; Ctrl-C ends\n")
        return CLEAN

    return guarded(work)


def _headline(news: News) -> str:
    """What was saved, what came of it, and how many findings there are now."""
    names = [relative_path(path) for path in news.changed]
    saved = names[0] if len(names) == 1 else f"{len(names)} files"
    counts = f"{len(news.came)} came, {len(news.went)} went"
    if news.report.errors and not news.report.findings:
        counts = count(len(news.report.errors), "error")
    now = f"{count(len(news.report.findings), 'finding')} now"
    return f"{datetime.now():%H:%M:%S} {saved} saved: {counts}, {now}\n"


def _one_line(finding: Finding) -> str:
    cell = finding.cell
    place = (
        f"{finding.path}:cell {cell.number}:{cell.line}"
        if cell
        else f"{finding.path}:{finding.line}"
    )
    return in_one_line(f"{place}: {finding.code} {finding.message}")
