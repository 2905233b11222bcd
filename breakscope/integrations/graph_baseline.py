"""What tests did when their results were saved: the state that later runs are held against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from breakscope.errors import UserError
from breakscope.reading import NotThere, Unreadable, read_file
from breakscope.report.comparing import text
from breakscope.report.comparing.difference import Difference, difference
from breakscope.report.model import Report, from_json, to_json

SCHEMA = "1"


class Saved(Struct, frozen=True):
    """The reports of each test's blocks, by the test's id."""

    tests: dict[str, tuple[msgspec.Raw, ...]]
    schema: str = SCHEMA


class Baseline(Struct, frozen=True):
    """A saved state, and the file that it was read from."""

    name: str
    saved: Saved

    def difference(self, test: str, block: int, now: Report) -> Difference | None:
        """What is different in this block of a test; None for one that was not saved."""
        reports = self.saved.tests.get(test, ())
        if block >= len(reports):
            return None
        return difference(from_json(bytes(reports[block])), now, (self.name, "now"))


def read(path: Path) -> Baseline:
    """Raises UserError for what is no saved state."""
    try:
        saved = msgspec.json.decode(read_file(path), type=Saved)
        for reports in saved.tests.values():
            for report in reports:
                from_json(bytes(report))
    except NotThere:
        raise UserError(f"no such baseline: {path}") from None
    except Unreadable as problem:
        raise UserError(f"{path}: {problem}") from None
    except ValueError as problem:
        raise UserError(f"{path} is no baseline of --breakscope-save: {problem}") from None
    return Baseline(path.name, saved)


def save(path: Path, tests: Mapping[str, Sequence[str]]) -> None:
    """Write the reports, each as JSON; raises UserError when they cannot be written."""
    kept = {
        name: tuple(msgspec.Raw(report.encode()) for report in reports)
        for name, reports in sorted(tests.items())
    }
    data = msgspec.json.format(msgspec.json.encode(Saved(kept)), indent=1)
    try:
        path.write_bytes(data + b"\n")
    except OSError as problem:
        raise UserError(f"cannot write {path}: {problem.strerror}") from None


def as_json(report: Report) -> str:
    """The report as it is saved."""
    return to_json(report).decode()


def is_worse(found: Difference) -> bool:
    """True for a new finding, and for more of anything that is counted."""
    counted = ("breaks", "recompiles", "skipped frames", "graphs")
    more = [
        figure
        for figure in found.figures
        if figure.name in counted and (figure.after or 0) > (figure.before or 0)
    ]
    return bool(found.new or more)


def in_words(found: Difference) -> str:
    """As `breakscope diff` shows it, below a line that says against what."""
    return f"against {found.before}:\n{text.render(found, None, False)}"
