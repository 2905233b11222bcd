"""The pytest plugin: the marker `graph`, the fixture `breakscope`, and the summary of
`--breakscope`.

Every pytest of an environment that has breakscope loads it. So it imports nothing but pytest, and
torch never, before a test uses it.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from breakscope.integrations.graph_baseline import Baseline
    from breakscope.integrations.graph_tests import Blocks

MARKER = (
    "graph(max_breaks=0, max_recompiles=None, single=False): what torch.compile may do in the "
    "test's own calls: at most so many places that break the graph and so many recompiles, None "
    "for any number; with single=True everything is one graph (breakscope)"
)
NAMES = ("max_breaks", "max_recompiles", "single")
BLOCKS = pytest.StashKey["Blocks"]()
BASELINE = pytest.StashKey["Baseline | None"]()
THEIRS = pytest.StashKey[bool]()
SEEN = "breakscope"  # the attribute of a test's report that holds what was seen


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("breakscope")
    group.addoption(
        "--breakscope",
        action="store_true",
        help="Show what torch.compile did in every test that limits it.",
    )
    group.addoption(
        "--breakscope-save",
        metavar="FILE",
        help="Save what it did as a baseline.",
    )
    group.addoption(
        "--breakscope-baseline",
        metavar="FILE",
        help="Beyond its limits, fail a test only for what is worse than in this saved state.",
    )
    parser.addini("breakscope_baseline", "The file of --breakscope-baseline, from the root folder.")


def pytest_configure(config: pytest.Config) -> None:
    # a project may have had a marker of this name before
    config.stash[THEIRS] = any(_name(line) == "graph" for line in config.getini("markers"))
    config.addinivalue_line("markers", MARKER)
    config.stash[BASELINE] = _baseline(config)
    shows, file = config.getoption("--breakscope"), config.getoption("--breakscope-save")
    if (shows or file) and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Summary(shows, file or ""), "breakscope-summary")


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Watch a marked test's own calls: neither its fixtures' nor other tests'."""
    marker = item.get_closest_marker("graph")
    if marker is None or (item.config.stash[THEIRS] and not marker.kwargs.keys() & {*NAMES}):
        return (yield)
    from breakscope.integrations.graph_tests import limits_of

    blocks = _blocks(item)
    limits = limits_of(marker.args, marker.kwargs, "pytest.mark.graph")
    with blocks.graph(limits):
        return (yield)


@pytest.fixture(name="breakscope")
def breakscope_fixture(request: pytest.FixtureRequest) -> Iterator[Blocks]:
    """`with breakscope.graph(max_breaks=0, max_recompiles=None, single=False) as report:` limits
    what torch.compile may do in a block of the test."""
    yield _blocks(request.node)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    blocks = item.stash.get(BLOCKS, None)
    if blocks is not None and call.when == "call" and blocks.seen:
        # numbers and texts, which pass to xdist
        setattr(report, SEEN, {"seen": blocks.seen, "kept": blocks.kept})
    return report


def _name(marker_line: str) -> str:
    return marker_line.partition(":")[0].partition("(")[0].strip()


def _baseline(config: pytest.Config) -> Baseline | None:
    named = config.getoption("--breakscope-baseline")
    listed = config.getini("breakscope_baseline")
    path = Path(named) if named else config.rootpath / listed if listed else None
    # where it is written anew, it decides nothing
    if path is None or config.getoption("--breakscope-save"):
        return None
    from breakscope.errors import UserError
    from breakscope.integrations import graph_baseline

    try:
        return graph_baseline.read(path)
    except UserError as problem:
        raise pytest.UsageError(str(problem)) from None


def _blocks(item: pytest.Item) -> Blocks:
    from breakscope.integrations.graph_tests import Blocks

    if BLOCKS not in item.stash:
        keeps = bool(item.config.getoption("--breakscope-save"))
        item.stash[BLOCKS] = Blocks(item, item.config.stash[BASELINE], keeps)
    return item.stash[BLOCKS]


class Summary:
    """What `--breakscope` shows at the end, and `--breakscope-save` keeps; with xdist in the process
    that controls the others."""

    def __init__(self, shows: bool, file: str) -> None:
        self.shows, self.file = shows, file
        self.rows: dict[str, dict[str, Any]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and hasattr(report, SEEN):
            self.rows[report.nodeid] = getattr(report, SEEN)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        lines = self._lines() if self.shows else []
        if self.file:
            lines.append(self._saved())
        terminalreporter.section("breakscope")
        for line in lines:
            terminalreporter.write_line(line)

    def _lines(self) -> list[str]:
        from breakscope.integrations.graph_tests import summary

        return summary({name: row["seen"] for name, row in self.rows.items()})

    def _saved(self) -> str:
        from breakscope.errors import UserError
        from breakscope.integrations import graph_baseline

        try:
            graph_baseline.save(
                Path(self.file), {name: row["kept"] for name, row in self.rows.items()}
            )
        except UserError as problem:
            return f"error: {problem}"
        return f"saved what {len(self.rows)} tests did in {self.file}"
