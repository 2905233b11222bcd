#!/usr/bin/env python3
"""Does a test that limits torch.compile ever give another answer? pytest_flakes.py [--tests N]
[--each N] [--seed S] [--keep]

Runs pytest sessions of `--each` tests whose outcome is known, until there were N tests: in random
orders, every other session by two processes of pytest-xdist, among tests that compile the same
functions without a limit. Prints every test that did not end as it should, or whose breaks, graphs
and recompiles in the summary are others than those of the first.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import result_file

PROGRAM = """\
import threading
import pytest, torch

def step(x):
    if x.sum() > 0:
        x = x + 1
    return x * 2

def cosine(x):
    return x.cos() + 1

class Counter(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return x * self.calls

broken = torch.compile(step, backend="eager")
whole = torch.compile(cosine, backend="eager")
each = pytest.mark.parametrize("number", range(NUMBER))

@each
@pytest.mark.graph
def test_break_failed(number):
    broken(torch.ones(2 + number))

@each
@pytest.mark.graph(max_breaks=1, max_recompiles=0)
def test_break_passed(number):
    broken(torch.ones(2 + number))

@each
@pytest.mark.graph(single=True, max_recompiles=0)
def test_single_passed(number):
    whole(torch.ones(2 + number))

@each
@pytest.mark.graph(max_recompiles=0)
def test_sizes_failed(number):
    whole(torch.ones(2)); whole(torch.ones(3 + number))

@each
@pytest.mark.graph(max_recompiles=1)
def test_sizes_passed(number):
    for size in (2, 3, 4, 5 + number):
        whole(torch.ones(size))

@each
@pytest.mark.graph(max_recompiles=1)
def test_counter_failed(number):
    model = torch.compile(Counter(), backend="eager")
    for _ in range(4):
        model(torch.ones(2))

@each
@pytest.mark.graph(single=True)
def test_thread_passed(number):
    thread = threading.Thread(target=whole, args=(torch.ones(2),))
    thread.start()
    thread.join()

@each
def test_block_passed(number, breakscope):
    with breakscope.graph(max_breaks=1):
        broken(torch.ones(2))
    with breakscope.graph(single=True):
        whole(torch.ones(2))

@each
@pytest.mark.graph
def test_nothing_failed(number):
    cosine(torch.ones(2))

@each
def test_unlimited_passed(number):
    broken(torch.ones(2 + number)); whole(torch.ones(2 + number))
"""
SHUFFLE = (
    "import random\n\n\n"
    "def pytest_collection_modifyitems(items):\n    random.Random({seed}).shuffle(items)\n"
)
SHOWN = ("-rA", "--tb=no", "--show-capture=no", "--breakscope")
KINDS = PROGRAM.count("@each\n")
OUTCOME = re.compile(r"^(PASSED|FAILED|ERROR) \S+::(test_\w+)\[", re.MULTILINE)
ROW = re.compile(r"^\S+::(test_\w+)\[\d+\]: (.*?), [\d.]+ \w+ of compiling", re.MULTILINE)


def session(number: int, seed: int, processes: int) -> str:
    """What one pytest prints of NUMBER tests of each kind."""
    with tempfile.TemporaryDirectory() as folder:
        program = PROGRAM.replace("NUMBER", str(number))
        Path(folder, "test_program.py").write_text(program, encoding="utf-8")
        Path(folder, "conftest.py").write_text(SHUFFLE.format(seed=seed), encoding="utf-8")
        plugins = ["-p", "breakscope.integrations.pytest_plugin"]
        if processes > 1:
            plugins += ["-p", "xdist.plugin", "-n", str(processes)]
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *plugins, "-p", "no:cacheprovider", *SHOWN],
            cwd=folder,
            env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 1:  # some tests are there to fail
            sys.exit(done.stdout + done.stderr)
        return done.stdout


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tests", type=int, default=1000)
    parser.add_argument("--each", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    tests, sessions, wrong = 0, 0, 0
    figures: dict[str, str] = {}
    outcomes: Counter[str] = Counter()
    started = time.perf_counter()
    while tests < asked.tests:
        text = session(max(1, asked.each // KINDS), asked.seed + sessions, 1 + sessions % 2)
        found = OUTCOME.findall(text)
        if not found:
            sys.exit(text)
        for outcome, name in found:
            outcomes[outcome] += 1
            if not name.endswith(outcome.lower()):
                wrong += 1
                print(f"session {sessions}: {name} {outcome}")
        for name, seen in ROW.findall(text):
            if figures.setdefault(name, seen) != seen:
                wrong += 1
                print(f"session {sessions}: {name}: {seen}, before {figures[name]}")
        tests, sessions = tests + len(found), sessions + 1
        print(f"{tests} tests, {wrong} flakes", file=sys.stderr, flush=True)
    minutes = (time.perf_counter() - started) / 60
    ends = ", ".join(f"{count} {outcome.lower()}" for outcome, count in sorted(outcomes.items()))
    print(f"{tests} tests ({ends}) in {sessions} sessions, {minutes:.0f} minutes: {wrong} flakes")
    for name, seen in sorted(figures.items()):
        print(f"{name}: {seen}")
    return 1 if wrong else 0


if __name__ == "__main__":
    result_file.run(main, "pytest-flakes")
