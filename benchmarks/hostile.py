"""Hostile and damaged programs through `breakscope check`: crashes, other exit codes than 0, 1 and 2,
tracebacks, more than 10 s of CPU time or 500 MB, and findings that were silenced.

    python benchmarks/hostile.py [--mutants N] [--generated N] [--seed N] [--jobs N] [--keep] [FOLDER...]

Mutants are files of the samples and of the folders given, changed by lines, tokens or characters.
Into a mutant a class with a true finding is put at its end and at its beginning: unless the file as
a whole is no Python any more, both are reported. Generated programs and the named cases
(hostile_programs.py) mark what is to be reported. Batches of programs are checked in processes with
the limits of one program each; a batch that fails is tried program by program.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(Path(__file__).parent))

from hostile_parts import HEAD, TAIL, generated
from hostile_programs import named

MOST_MEMORY = 500 << 20  # bytes
MOST_SECONDS = 10  # of CPU time
# a finding behind one that loses the frame is only possible
OPTIONS = ("--jobs", "1", "--torch", "2.13", "--show-possible", "--format", "json")
BATCH = 20  # programs of one process, where none is known to be hostile


class Program(NamedTuple):
    """A program to check, and the kind that it counts as."""

    kind: str
    name: str
    source: str


class Outcome(NamedTuple):
    """What became of one program: "held", "is no Python", or what went wrong."""

    program: Program
    what: str
    detail: str = ""
    gaps: int = 0


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("folders", nargs="*", type=Path)
    options.add_argument("--mutants", type=int, default=10_000)
    options.add_argument("--generated", type=int, default=1_000)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--jobs", type=int, default=2)
    given = options.parse_args()
    counts: Counter[tuple[str, str]] = Counter()
    programs = all_programs(given)
    with ThreadPoolExecutor(given.jobs) as pool:
        for outcomes in pool.map(checked, batches(programs)):
            for outcome in outcomes:
                counts[outcome.program.kind, outcome.what] += 1
                counts[outcome.program.kind, "with gaps"] += bool(outcome.gaps)
                if outcome.what not in ("held", "is no Python"):
                    print(f"{outcome.program.name}: {outcome.what} {outcome.detail}", flush=True)
    print("\n".join(table(counts)))
    return int(any(what not in ("held", "is no Python", "with gaps") for _, what in counts))


def all_programs(given: argparse.Namespace) -> Iterator[Program]:
    for name, source in named().items():
        yield Program("named", name, source)
    for number in range(given.generated):
        seed = given.seed + number
        yield Program("generated", f"generated {seed}", generated(seed))
    files = [
        path
        for folder in (ROOT / "samples", *given.folders)
        for path in sorted(folder.rglob("*.py"))
        if path.stat().st_size < 100_000
    ]
    for number in range(given.mutants):
        chance = random.Random(f"{given.seed} {number}")
        path = chance.choice(files)
        text = mutant(path.read_text(encoding="utf-8"), chance)
        yield Program("mutant", f"mutant {number} of {path.name}", with_findings(text))


def with_findings(text: str) -> str:
    """The text with a class before it and one behind, whose findings no change of the rest
    touches."""
    lines = text.split("\n")
    first = next((n for n, line in enumerate(lines) if line and not line.startswith("from __")), 0)
    future = [line for line in lines if line.startswith("from __future__")]
    rest = [line for line in lines[first:] if not line.startswith("from __future__")]
    return "\n".join([*future, HEAD, *rest, TAIL.replace("x.sum()", "x.clone().sum()")])


def mutant(text: str, chance: random.Random) -> str:
    """The text with a few changes of lines, tokens or characters."""
    for _ in range(chance.choice((1, 1, 2, 5, 20))):
        lines = text.split("\n")
        at, other = chance.randrange(len(lines)), chance.randrange(len(lines))
        how = chance.randrange(8)
        words = lines[at].split(" ")
        place, place_of_other = chance.randrange(len(words)), chance.randrange(len(words))
        if how == 0:
            del lines[at]
        elif how == 1:
            lines.insert(at, lines[other])
        elif how == 2:
            lines[at], lines[other] = lines[other], lines[at]
        elif how == 3:
            lines[at] = lines[at].replace(words[place].strip(), words[place_of_other].strip(), 1)
        elif how == 4:
            words[place] = chance.choice(lines[other].split(" "))
            lines[at] = " ".join(words)
        elif how == 5:
            indent = len(lines[at]) - len(lines[at].lstrip())
            hostile = chance.choice(
                (
                    "s = 1 << 10 ** 9",
                    "s = 'a' * 10 ** 10",
                    "x = [x, x] * 99",
                    "return",
                    "raise x",
                    "while x: pass",
                    "for x in x: x()",
                    "del x, self",
                    "self = x",
                    "x = self(x)",
                    "s = '{:>9999999999}'.format(x)",
                    "self.forward = self",
                    "global x, torch",
                )
            )
            lines.insert(at, " " * indent + hostile)
        elif how == 6:
            lines[at] = lines[at].replace(chance.choice("()=:,.[]"), chance.choice("()=:,.[] +"), 1)
        else:
            name = chance.choice(("self", "x", "None", "torch", "0", "...", "lambda: x", "super()"))
            lines[at] = lines[at].replace(words[place].strip(" (),:[]") or "self", name, 1)
        text = "\n".join(lines)
    return text


def batches(programs: Iterable[Program]) -> Iterator[list[Program]]:
    waiting = iter(programs)
    while batch := list(islice(waiting, BATCH)):
        if any(program.kind == "named" for program in batch):
            yield from ([program] for program in batch)
        else:
            yield batch


def checked(batch: list[Program]) -> list[Outcome]:
    """The outcomes of some programs, checked by one process; one by one when that fails or takes
    as long as one may."""
    outcomes = run(batch)
    if len(batch) > 1 and any(o.what not in ("held", "is no Python") for o in outcomes):
        return [outcome for program in batch for outcome in run([program])]
    return outcomes


def run(batch: list[Program]) -> list[Outcome]:
    folder = Path(tempfile.mkdtemp(prefix="hostile"))
    try:
        paths = []
        for number, program in enumerate(batch):
            inner = folder / str(number)  # so that none is beside another
            inner.mkdir()
            paths.append(inner / "program.py")
            paths[-1].write_text(program.source, encoding="utf-8", errors="surrogatepass")
        seconds = MOST_SECONDS if len(batch) == 1 else 2 * MOST_SECONDS
        with tempfile.TemporaryFile() as errors, tempfile.TemporaryFile() as output:
            process = subprocess.Popen(
                [sys.executable, "-m", "breakscope", "check", *map(str, paths), *OPTIONS],
                stdout=output,
                stderr=errors,
                cwd=ROOT,
                env={**os.environ, "XDG_CACHE_HOME": str(folder)},
                preexec_fn=lambda: limit(seconds),
            )
            process.wait()
            output.seek(0)
            errors.seek(0)
            return judged(batch, paths, process.returncode, output.read(), errors.read())
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def limit(seconds: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def judged(
    batch: list[Program], paths: list[Path], code: int, output: bytes, errors: bytes
) -> list[Outcome]:
    last = errors.decode(errors="replace").strip()[-200:]
    if code in (-24, -9):
        return [Outcome(program, "took too long", last) for program in batch]
    if code < 0 or code > 2:
        return [Outcome(program, f"ended with {code}", last) for program in batch]
    if b"Traceback" in errors:
        return [Outcome(program, "printed a traceback", last) for program in batch]
    try:
        report = json.loads(output)
    except ValueError:
        return [Outcome(program, "gave no report", last) for program in batch]
    return [outcome(program, path, report, code) for program, path in zip(batch, paths)]


def outcome(program: Program, path: Path, report: dict, code: int) -> Outcome:
    refused = [e["message"] for e in report["errors"] if e["path"] == str(path)]
    gaps = [gap["message"] for gap in report["gaps"] if gap["path"] == str(path)]
    if refused:
        is_python = parses(program.source)
        if is_python or code != 2:
            return Outcome(program, "refused though it is Python", refused[0], len(gaps))
        return Outcome(program, "is no Python")
    found = {finding["line"] for finding in report["findings"] if finding["path"] == str(path)}
    lines = enumerate(program.source.split("\n"), 1)
    missing = [number for number, line in lines if "# FIND" in line and number not in found]
    if missing:
        said = "with a gap" if gaps else "in silence"
        return Outcome(program, f"lost a finding {said}", f"line {missing[0]}", len(gaps))
    broken = [message for message in gaps if "internal error" in message]
    if broken:
        return Outcome(program, "had an internal error", broken[0], len(gaps))
    return Outcome(program, "held", gaps=len(gaps))


def parses(source: str) -> bool:
    try:
        ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def table(counts: Counter[tuple[str, str]]) -> Iterator[str]:
    """A row for each kind of program and each outcome."""
    yield "| programs | outcome | how many |"
    yield "|---|---|---:|"
    for (kind, what), number in sorted(counts.items()):
        if number:
            yield f"| {kind} | {what} | {number} |"


if __name__ == "__main__":
    from result_file import run as run_and_keep

    run_and_keep(main, "hostile", is_markdown=True)
