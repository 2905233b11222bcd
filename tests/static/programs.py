"""Small programs for the tests of the source analyzer."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

from breakscope.report.model import CONFIDENCES
from breakscope.static import StaticOptions, StaticResult, analyze

TORCH = "2.13.0"
MARK = re.compile(r"# (BRK\d+(?: BRK\d+)*)$")


def write(folder: Path, files: dict[str, str]) -> None:
    for name, source in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(source), encoding="utf-8")


def analysed(folder: Path, files: dict[str, str], *entries: str, **options) -> StaticResult:
    """Write the files and analyse the folder; entries are FILE::NAME with FILE in the folder."""
    write(folder, files)
    entries = tuple(f"{folder}/{entry}" for entry in entries)
    return analyze([str(folder)], StaticOptions(torch=TORCH, entries=entries, **options))


def found(
    result: StaticResult, confidence: tuple[str, ...] = ("certain", "likely")
) -> list[tuple[str, int]]:
    """(code, line) of the findings that are more than possible."""
    assert result.errors == ()
    assert not [gap for gap in result.gaps if "internal error" in gap.message]
    return [(f.code, f.line) for f in result.findings if f.confidence in confidence]


def marked(source: str) -> set[tuple[str, int]]:
    """(code, line) of the comments `# BRK101 BRK202` of a program."""
    marks = ((MARK.search(line), number) for number, line in enumerate(source.splitlines(), 1))
    return {(code, number) for mark, number in marks if mark for code in mark[1].split()}


def seen(result: StaticResult) -> list[tuple[str, int]]:
    """(code, line) of all findings: what is possible is seen where a region is, and hidden by default."""
    return found(result, CONFIDENCES)


def region(
    folder: Path, body: str, arguments: str = "torch.ones(4)", parameters: str = "x", **options
) -> StaticResult:
    """Analyse a function with this body, entered through a factory; the body begins in line 9, `x`
    is a computed tensor."""
    source = (
        "import logging\n\nimport numpy as np\nimport torch\n\nlogger = logging.getLogger(__name__)\n"
        f"def region({parameters}):\n    x = x * 2.0\n{textwrap.indent(textwrap.dedent(body), '    ')}    return x\n\n"
        f"def make():\n    return region, ({arguments},), {{}}\n"
    )
    return analysed(folder, {"program.py": source}, "program.py::make", **options)
