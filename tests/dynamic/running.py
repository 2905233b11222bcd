"""Running targets for the tests, each in a child process of its own."""

from collections.abc import Mapping
from pathlib import Path

from on_demand import OnDemand

from breakscope.dynamic import RunOptions, RunResult, run_target
from breakscope.errors import UserError

TARGETS = Path(__file__).parent / "targets"


def run_all(wanted: dict[str, dict]) -> Mapping[str, RunResult | UserError]:
    """Runs of targets; the key is a label, the value holds RunOptions' fields, `name` the label
    when left out. What is refused answers with its error."""

    def run(label: str) -> RunResult | UserError:
        given = {
            "file": str(TARGETS / "behaviour.py"),
            "name": label,
            "vary": False,
            "explain": False,
            "device": "cpu",
            "timeout": 120.0,
        } | wanted[label]
        try:
            return run_target(RunOptions(**given))
        except UserError as refused:
            return refused

    return OnDemand(wanted, run)


def line_of(text: str, file: str = "behaviour.py") -> int:
    """The number of the first line of a target file that holds `text`."""
    lines = (TARGETS / file).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def break_lines(result: RunResult) -> list[int]:
    return [f.line for f in result.findings if f.kind == "break"]
