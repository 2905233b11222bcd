"""Places where one check of a folder differs from the checks of its files, one by one: 0 is right.

    python benchmarks/exactness.py FOLDER [--folders N] [--seed S] [--parts N] [--jobs N] [--write FILE]

The folder is checked at once; then each of its files by itself, by an analyzer that has seen no
other file, and, with --parts, the files in so many random parts. A place counts as different when
only one side has a finding there, or when any field of it differs. With --folders the check is
restricted to so many random folders in FOLDER. Prints one line of a Markdown table; with --write it
is added to a file, under a head when the file is new. The exit code is 1 when a place differs.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import msgspec

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from breakscope import __version__
from breakscope.report.model import Finding
from breakscope.static import StaticOptions, analyze
from breakscope.static.answer import union
from breakscope.static.project.files import python_files

HEAD = (
    "| folder | files | places | file by file: different | in parts: different "
    "| breakscope | torch assumed | Python | date |\n|---|---|---|---|---|---|---|---|---|\n"
)


def main() -> int:
    options = arguments()
    files = chosen_files(options.folder, options.folders, options.seed)
    if not files:
        sys.exit(f"{options.folder} holds no Python files")
    whole = analyze(files, StaticOptions(), jobs=options.jobs)
    with ProcessPoolExecutor(options.jobs) as pool:
        singles = union(pool.map(check, ([file] for file in files), chunksize=16))
    different = differing_places(whole.findings, singles)
    show(different, "file by file")
    by_parts: set[tuple] | None = None
    if options.parts:
        parts = random_parts(files, options.parts, options.seed)
        by_parts = differing_places(whole.findings, union(check(part) for part in parts))
        show(by_parts, "in parts")
    sampled = f", {options.folders} random folders (seed {options.seed})" if options.folders else ""
    cells = (
        f"`{'/'.join(options.folder.resolve().parts[-2:])}`{sampled}",
        f"{len(files):,}",
        f"{len({place(finding) for finding in whole.findings}):,}",
        str(len(different)),
        "-" if by_parts is None else f"{len(by_parts)} ({options.parts} parts)",
        __version__,
        whole.torch,
        ".".join(map(str, sys.version_info[:3])),
        datetime.now(UTC).date().isoformat(),
    )
    line = f"| {' | '.join(cells)} |\n"
    print(line, end="")
    if options.write:
        is_new = not options.write.exists()
        options.write.parent.mkdir(parents=True, exist_ok=True)
        with options.write.open("a", encoding="utf-8") as file:
            file.write(f"# Exact answers\n\n{HEAD}{line}" if is_new else line)
    return 1 if different or by_parts else 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--folders", type=int, metavar="N", help="random folders in it (all)")
    parser.add_argument("--seed", type=int, default=0, metavar="S")
    parser.add_argument("--parts", type=int, default=0, metavar="N", help="random parts, too")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes")
    parser.add_argument("--write", type=Path, metavar="FILE", help="add the line to this file")
    return parser.parse_args()


def chosen_files(folder: Path, count: int | None, seed: int) -> list[str]:
    if count is None:
        return list(python_files([folder]))
    inner = sorted(path for path in folder.iterdir() if (path / "__init__.py").is_file())
    return list(python_files(sorted(random.Random(seed).sample(inner, min(count, len(inner))))))


def check(files: list[str]) -> tuple[Finding, ...]:
    return analyze(files, StaticOptions()).findings


def random_parts(files: list[str], count: int, seed: int) -> list[list[str]]:
    shuffled = random.Random(seed).sample(files, len(files))
    return [part for number in range(count) if (part := shuffled[number::count])]


def place(finding: Finding) -> tuple:
    return (*finding.place(), finding.end_line, finding.end_column, finding.kind)


def differing_places(one: Iterable[Finding], other: Iterable[Finding]) -> set[tuple]:
    """The places at which two checks have not the same findings, to the last field."""
    texts = [{(place(f), msgspec.json.encode(f)) for f in findings} for findings in (one, other)]
    return {where for where, _ in texts[0] ^ texts[1]}


def show(places: set[tuple], how: str) -> None:
    for where in sorted(places, key=repr)[:20]:
        print(f"{how}: {where}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
