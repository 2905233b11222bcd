"""What every command does around its workflow: configuration, output, exit code, and one clear line
for what is wrong."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable
from typing import TextIO

from msgspec import Struct

from breakscope.config import Config, load_config
from breakscope.errors import UserError
from breakscope.report import formats
from breakscope.report.escaping import in_one_line
from breakscope.report.model import Report, to_json
from breakscope.rulekit.loader import RuleError, load_rules

CLEAN, FOUND, FAILED = 0, 1, 2
INTERRUPTED = 130
ALLOW_RULES = "BREAKSCOPE_ALLOW_RULES"


class OutputOptions(Struct, frozen=True, kw_only=True):
    """`format` "" means the configuration's, or text; `file` "" means stdout; `color`: "auto",
    "always", "never"."""

    format: str = ""
    file: str = ""
    color: str = "auto"
    fixes: bool = False  # show suggested rewrites in the text format
    diff_only: bool = False  # the text format is the diff of what would be fixed
    top: int = 0  # how many findings the text format shows, 0 for all
    statistics: bool = False  # the text format is a table of counts
    quiet: bool = False  # the text format has findings and failures only
    exit_zero: bool = False  # findings alone are no failure
    to_stderr: bool = False  # where stdout belongs to someone else's program


def answer(
    make: Callable[[Config], Report],
    output: OutputOptions,
    *,
    allow_rules: bool = False,
    config: str = "",
    ends_process: bool = False,
) -> int:
    """Make a report and deliver it; the exit code. `config` names the file of the settings, "" for
    the project's. With `ends_process` the process ends here and
    neither collects nor frees what it holds: the system takes all of it back at once.

    0: nothing found. 1: findings. 2: wrong use, bad configuration, a failure of ours, or something
    that could not be checked or run (then the report says what, beside everything that was found).
    A gap in the analysis counts as a failure where nothing was found.
    """

    def work() -> int:
        read = settings(allow_rules, config)
        name = output.format or read.format or "text"
        formats.load(name)
        if output.statistics and name != "text":
            raise UserError(f"--statistics is a table in the text format, not in {name}")
        return deliver(make(read), name, output, read)

    if ends_process:
        gc.disable()
    code = guarded(work)
    if ends_process:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    return code


def settings(allow_rules: bool, file: str = "") -> Config:
    """The project's settings, or those of a file; raises UserError when they are wrong, or name rules, which are code of
    the project, and nobody said that it may run."""
    config = load_config(file=file)
    allowed = allow_rules or os.environ.get(ALLOW_RULES, "0") not in ("", "0")
    if config.rules and not allowed:
        raise UserError(
            f"{config.path}: `rules` names Python files of the project, which are not run unless "
            f"--allow-rules or {ALLOW_RULES}=1 allows it"
        )
    return config


def guarded(work: Callable[[], int]) -> int:
    """Run `work`; whatever goes wrong becomes one line on stderr and exit code 2."""
    try:
        return work()
    except (UserError, RuleError) as problem:
        return complain(str(problem))
    except KeyboardInterrupt:
        print("breakscope: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # the reader of our output went away, as `| head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except Exception as problem:
        if os.environ.get("BREAKSCOPE_DEBUG"):
            raise
        return complain(
            f"internal error: {type(problem).__name__}: {problem}; BREAKSCOPE_DEBUG=1 shows where"
        )


def complain(message: str) -> int:
    """One line on stderr; the exit code for it."""
    print(f"breakscope: error: {in_one_line(message)}", file=sys.stderr)
    return FAILED


def deliver(report: Report, name: str, output: OutputOptions, config: Config) -> int:
    """Write the report in the format `name` to where it is wanted; the exit code."""
    stream = sys.stderr if output.to_stderr else sys.stdout
    terminal = not output.file and stream.isatty()
    text = formats.render(
        report,
        name,
        formats.RenderOptions(
            color=wants_color(output.color, terminal),
            width=terminal_width(stream) if not output.file else None,
            fixes=output.fixes,
            diff_only=output.diff_only,
            top=output.top,
            statistics=output.statistics,
            quiet=output.quiet,
            rules=_rule_texts(config) if getattr(formats.load(name), "WANTS_RULES", False) else {},
        ),
    )
    if output.file:
        write_file(output.file, text)
    else:
        write(text, stream)
    code = exit_code(report)
    return CLEAN if output.exit_zero and code == FOUND else code


def terminal_width(stream: TextIO | None = None) -> int | None:
    """The columns of the terminal that a stream (stdout) is; None where it is none."""
    if not (stream or sys.stdout).isatty():
        return None
    import shutil  # brings the archive formats along

    return shutil.get_terminal_size().columns


def save(report: Report, file: str) -> None:
    """The report as JSON; raises UserError when it cannot be written."""
    write_file(file, to_json(report).decode("utf-8"))


def check_writable(file: str) -> None:
    """Raise UserError now when a file could not be written later."""
    folder = os.path.dirname(os.path.abspath(file))
    if not os.path.isdir(folder):
        raise UserError(f"cannot write {file}: no such folder: {folder}")
    if not os.access(file if os.path.exists(file) else folder, os.W_OK):
        raise UserError(f"cannot write {file}: Permission denied")


def write_file(file: str, text: str) -> None:
    """Text as UTF-8; raises UserError when it cannot be written."""
    try:
        with open(file, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as stream:
            stream.write(text)
    except OSError as problem:
        raise UserError(f"cannot write {file}: {problem.strerror}") from None


def exit_code(report: Report) -> int:
    """2 when something could not be checked or run, else 1 when something was found, else 2 when
    the analysis of source has gaps, else 0. Where there are budgets, they decide what counts."""
    if report.errors:
        return FAILED
    if report.baseline and not all(budget.kept for budget in report.baseline.budgets):
        return FOUND
    if report.budgets:
        return CLEAN if all(budget.kept for budget in report.budgets) else FOUND
    if any(f.evidence != "refuted" for f in report.findings):
        return FOUND
    return FAILED if report.gaps else CLEAN


def write(text: str, stream: TextIO | None = None) -> None:
    """Text to stdout or another stream, whatever its encoding can show; JSON stays UTF-8 wherever
    it is redirected."""
    stream = stream or sys.stdout
    if not text:
        return
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(
            encoding=stream.encoding if stream.isatty() else "utf-8", errors="backslashreplace"
        )
    stream.write(text)
    stream.flush()


def wants_color(choice: str, terminal: bool) -> bool:
    """NO_COLOR (https://no-color.org) counts unless --color says otherwise; so does a dumb
    terminal."""
    if choice != "auto":
        return choice == "always"
    return terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _rule_texts(config: Config) -> dict[str, formats.RuleText]:
    return {
        rule.code: formats.RuleText(
            rule.code, rule.name, rule.severity, rule.title, rule.page.strip()
        )
        for rule in load_rules(config.rules)
    }
