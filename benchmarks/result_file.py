"""Keeps what a benchmark prints: `--keep` behind any of them writes results/YYYY-MM-DD-NAME.md, with
the machine and the versions."""

from __future__ import annotations

import io
import os
import platform
import shlex
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from importlib import metadata
from pathlib import Path
from typing import NoReturn, TextIO

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
OPTION = "--keep"
LIBRARIES = ("torch", "transformers", "tlparse", "ruff")


class Both(io.TextIOBase):
    """Writes to two streams."""

    def __init__(self, first: TextIO, second: TextIO) -> None:
        self.streams = (first, second)

    def write(self, text: str) -> int:
        for stream in self.streams:
            stream.write(text)
        return len(text)

    def flush(self) -> None:
        for stream in self.streams:
            stream.flush()


def run(main: Callable[[], int | None], name: str, is_markdown: bool = False) -> NoReturn:
    """Run a benchmark's main function and end with its exit code; with `--keep`, also write what it
    prints."""
    if OPTION not in sys.argv:
        sys.exit(main())
    sys.argv.remove(OPTION)
    printed = io.StringIO()
    with redirect_stdout(Both(sys.stdout, printed)):
        code = main()
    RESULTS.mkdir(exist_ok=True)
    file = RESULTS / f"{time.strftime('%Y-%m-%d')}-{name}.md"
    file.write_text(page(name, printed.getvalue(), is_markdown), encoding="utf-8")
    print(f"kept in {file.relative_to(ROOT)}", file=sys.stderr)
    sys.exit(code)


def page(name: str, printed: str, is_markdown: bool) -> str:
    """The file's text."""
    body = printed.strip("\n") if is_markdown else f"```text\n{printed.strip()}\n```"
    rows = "".join(f"| {what} | {value} |\n" for what, value in facts().items())
    title = name.replace("-", " ").capitalize()
    return f"# {title}, {time.strftime('%Y-%m-%d')}\n\n| | |\n|---|---|\n{rows}\n{body}\n"


def facts() -> dict[str, str]:
    """The machine, the versions, and the command."""
    found = {
        "machine": f"{processor()}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}",
        "breakscope": commit(),
        "Python": platform.python_version(),
    }
    for library in LIBRARIES:
        try:
            found[library] = metadata.version(library)
        except metadata.PackageNotFoundError:
            continue
    arguments = [shown(argument) for argument in sys.argv[1:]]
    script = Path(sys.argv[0]).name
    return {**found, "command": f"`{shlex.join(['python', f'benchmarks/{script}', *arguments])}`"}


def shown(argument: str) -> str:
    """An argument without the folders of this machine."""
    path = Path(argument)
    if not path.is_absolute():
        return argument
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else f".../{path.name}"


def processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return " ".join(line.partition(":")[2].split())
    except OSError:
        pass
    return platform.processor() or "unknown processor"


def commit() -> str:
    """The commit of the checkout; "with changes" when files differ from it."""
    asked = ["git", "describe", "--always", "--dirty=, with changes", "--exclude=*"]
    done = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "no checkout"
