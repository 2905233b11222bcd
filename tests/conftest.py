"""What all tests need."""

from __future__ import annotations

import os
import signal

import pytest
from hypothesis import HealthCheck, settings

# how long an example takes says nothing on a machine that does other work too
settings.register_profile("any pace", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any pace")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--nightly", action="store_true", help="run the long tests marked nightly, too"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("nightly") or "nightly" in config.getoption("markexpr"):
        return
    late = [item for item in items if item.get_closest_marker("nightly")]
    config.hook.pytest_deselected(items=late)
    items[:] = [item for item in items if not item.get_closest_marker("nightly")]


def pytest_sessionstart() -> None:
    """Keep no answers from one test to the next: a test may change what answers follow from. And
    hear interrupts: a shell starts its background jobs deaf to them, and so would be every
    program that tests interrupt."""
    os.environ["BREAKSCOPE_CACHE_DIR"] = os.devnull
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
