"""Delivers what `breakscope bench` measured: text or JSON, to stdout or a file."""

from __future__ import annotations

import shutil
import sys

from breakscope.cli.session import CLEAN, FAILED, OutputOptions, wants_color, write, write_file
from breakscope.errors import UserError
from breakscope.report.bench import Bench, bench_to_json
from breakscope.report.bench_text import render

FORMATS = ("text", "json")


def deliver_measured(measured: Bench, output: OutputOptions) -> int:
    """Write it; the exit code: 0 when the modes could be compared, else 2. Raises UserError for
    another format."""
    name = output.format or "text"
    if name not in FORMATS:
        raise UserError(
            f"what `breakscope bench` measured is shown as {' or '.join(FORMATS)}, not as {name}"
        )
    if name == "json":
        text = bench_to_json(measured).decode()
    else:
        terminal = not output.file and sys.stdout.isatty()
        width = shutil.get_terminal_size().columns if terminal else None
        text = render(measured, width, wants_color(output.color, terminal))
    if output.file:
        write_file(output.file, text)
    else:
        write(text)
    return FAILED if measured.errors or not measured.use else CLEAN
