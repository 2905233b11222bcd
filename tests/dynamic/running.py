"""Running targets for the tests: many child processes, two at a time."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from breakscope.dynamic import RunOptions, RunResult, run_target
from breakscope.errors import UserError

TARGETS = Path(__file__).parent / "targets"


def run_all(wanted: dict[str, dict]) -> dict[str, RunResult | UserError]:
    """Run every target; the key is a label, the value holds RunOptions' fields, `name` the label
    when left out. What is refused answers with its error."""

    def run(item: tuple[str, dict]) -> RunResult | UserError:
        label, fields = item
        given = {
            "file": str(TARGETS / "behaviour.py"),
            "name": label,
            "vary": False,
            "explain": False,
            "device": "cpu",
            "timeout": 120.0,
        } | fields
        try:
            return run_target(RunOptions(**given))
        except UserError as refused:
            return refused

    with ThreadPoolExecutor(max_workers=2) as pool:
        return dict(zip(wanted, pool.map(run, wanted.items()), strict=True))


def line_of(text: str, file: str = "behaviour.py") -> int:
    """The number of the first line of a target file that holds `text`."""
    lines = (TARGETS / file).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def break_lines(result: RunResult) -> list[int]:
    return [f.line for f in result.findings if f.kind == "break"]
