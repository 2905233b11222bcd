"""Runs a package's own tests, or the Python of its description, in an order that shows much early.

    drive.py tests SECONDS_EACH SECONDS PATH ...     pytest; each test function once before any with further parameters;
                                                     field_results.txt says how each ended
    drive.py snippets SECONDS_EACH SECONDS FILE ...  the Python blocks of Markdown or reStructuredText, from top to bottom

SECONDS bounds what runs, in CPU time, and three times that by the clock, so that other work on the machine
changes little; imports and the collection of tests do not count, and have a bound of their own.

What fails, is skipped or takes too long is no matter: what ran before counts. Runs in the package's
environment, and needs nothing there but pytest.
"""

from __future__ import annotations

import contextlib
import importlib
import re
import resource
import signal
import sys
import textwrap
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

COLLECT = 60  # seconds after which no further file of tests is read
MEMORY = 12 * 2**30  # bytes of address space
BLOCK = re.compile(r"^```[ {]*(?:python|py)\b[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
DIRECTIVE = re.compile(
    r"^\.\. code(?:-block)?:: python\n((?:[ \t]+\S[^\n]*\n|\s*\n)+)", re.MULTILINE
)
PROMPT = re.compile(r"^(?:>>>|\.\.\.) ?", re.MULTILINE)


class TooLong(BaseException):
    """A block took too long. No Exception: one that is raised while Dynamo traces would be taken for
    the program's own, and be reported as a graph break."""


class BreadthFirst:
    """A pytest plugin: of a suite that will not end in time, something of everything, what an earlier
    run did not reach before what it did, and files that use torch before those that do not."""

    def __init__(self, results: Path, seconds: float) -> None:
        self.results = results
        lines = results.read_text().splitlines() if results.exists() else []
        self.before = Counter(line.partition(" ")[2] for line in lines)
        self.seconds = seconds
        self.start = time.monotonic()
        self.over = lambda: False

    def pytest_ignore_collect(self) -> bool | None:
        return True if time.monotonic() > self.start + COLLECT else None

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        runs: Counter[tuple[str, str]] = Counter()
        functions: dict[str, dict[str, int]] = {}
        order = {}
        for item in items:
            file = str(item.path)
            if file not in functions:
                functions[file] = {"": without_torch(item.path)}
            function = item.nodeid.partition("[")[0]
            place = functions[file].setdefault(function, len(functions[file]))
            done = self.before[item.nodeid]
            order[item] = (done, functions[file][""], runs[file, function], place)
            runs[file, function] += 1
        items.sort(key=order.__getitem__)

    def pytest_runtestloop(self) -> None:
        self.over = limit_of(self.seconds)

    def pytest_runtest_logfinish(self) -> None:
        if self.over():
            self.session.shouldstop = f"{self.seconds:g} s are over"

    def pytest_sessionstart(self, session: Any) -> None:
        self.session = session

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when == "call" or (report.when == "setup" and not report.passed):
            late = report.failed and "Timeout" in report.longreprtext
            with open(self.results, "a", encoding="utf-8") as file:
                file.write(f"{'late' if late else report.outcome} {report.nodeid}\n")


def limit_of(seconds: float) -> Callable[[], bool]:
    """Whether that many seconds of CPU time are over, or three times that."""
    cpu, clock = time.process_time() + seconds, time.monotonic() + 3 * seconds
    return lambda: time.process_time() > cpu or time.monotonic() > clock


def without_torch(file: Path) -> bool:
    return b"torch" not in file.read_bytes()


def tests(seconds: float, all_seconds: float, paths: list[str]) -> int:
    import pytest

    options = ["-q", "-p", "no:cacheprovider", "-o", "addopts=", "-o", "filterwarnings="]
    options += ["--continue-on-collection-errors", "--no-header", "--tb=line", "--disable-warnings"]
    options += [f"--timeout={seconds:g}", "--timeout-method=signal"]
    order = BreadthFirst(Path("field_results.txt").absolute(), all_seconds)
    return pytest.main([*options, *paths], plugins=[order])


def snippets(seconds: float, all_seconds: float, paths: list[str]) -> int:
    """Each block sees what the ones above it defined, and what many leave out."""
    failed = 0
    over = limit_of(all_seconds)
    for path in paths:
        namespace: dict[str, Any] = {"__name__": "snippets"}
        with contextlib.suppress(ImportError):
            exec(
                "import torch\nfrom torch import nn, optim\nimport torch.nn.functional as F",
                namespace,
            )
        found = blocks(Path(path).read_text(encoding="utf-8"))
        for number, block in enumerate(found, 1):
            if over():
                break
            try:
                with limited(seconds):
                    exec(compile(block, f"{path}:{number}", "exec"), namespace)
            except (Exception, SystemExit, TooLong) as problem:
                failed += 1
                print(
                    f"block {number}: {traceback.format_exception_only(problem)[-1].strip()[:300]}"
                )
        print(f"{len(found)} blocks, {failed} failed")
    return 0


def blocks(text: str) -> list[str]:
    found = [(m.start(), m[1]) for p in (BLOCK, DIRECTIVE) for m in p.finditer(text)]
    return [without_prompt(textwrap.dedent(block)) for _, block in sorted(found)]


def without_prompt(block: str) -> str:
    if not block.lstrip().startswith(">>>"):
        return block
    return "\n".join(PROMPT.sub("", x) for x in block.splitlines() if PROMPT.match(x))


def define_operators() -> None:
    """What torchvision, installed without its extension, gives further facts of when it is imported."""
    import torch

    for name in ("nms", "qnms"):
        schema = "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
        torch.library.define(f"torchvision::{name}", schema)


@contextlib.contextmanager
def limited(seconds: float):
    def stop(number: int, frame: object) -> None:
        raise TooLong(f"took more than {seconds:g} s")

    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    what, each, seconds, *paths = sys.argv[1:]
    with contextlib.suppress(ImportError):
        importlib.import_module("torch._dynamo")  # takes long, which is no fault of the first test
        define_operators()
    sys.exit({"tests": tests, "snippets": snippets}[what](float(each), float(seconds), paths))
